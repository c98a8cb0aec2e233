"""What OCR costs, and how many of a page's words it finds.

    PYTHONPATH=tests/support:tests/documents:tests/search python benchmarks/ocr.py [FONT_FOR_CHINESE]

Draws A4 pages at 200 dots per inch in English, German and, with a font such as wqy-zenhei.ttc of Debian's
fonts-wqy-zenhei, Chinese (of which the letters are counted). Needs the extra `ocr`.
"""

import re
import resource
import sys
import time
from collections import Counter

from drawn_text import FONT, as_file, drawn
from test_documents_ocr import ENGLISH, GERMAN

from vault_indexer.documents import extract, recognise

CHINESE = (
    "从明天起，做一个幸福的人，喂马、劈柴，周游世界。图书馆每天早上九点开门，下午六点关门，读者可以免费借阅三本书。\n\n"
    "会议记录：讨论了服务器的迁移计划，数据库备份由王工负责，预计下周二完成测试，七月正式上线。"
)


def measure(name: str, text: str, font: str, units: str) -> None:
    page = as_file(drawn("\n\n".join([text] * 4), font=font))
    began = time.process_time()
    found = recognise(f"{name}.png", page, extract(f"{name}.png", page))
    seconds = time.process_time() - began
    wanted, read = (Counter(re.findall(units, one.lower())) for one in (" ".join([text] * 4), found))
    recall = sum((wanted & read).values()) / sum(wanted.values())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{name}: recall {recall:.3f} of {sum(wanted.values())}, {seconds:.1f} s, {peak} MB at most")


def main() -> None:
    measure("load", "One word", FONT, r"\w+")
    measure("en", ENGLISH, FONT, r"\w+")
    measure("de", GERMAN, FONT, r"\w+")
    if sys.argv[1:]:
        measure("zh", CHINESE, sys.argv[1], r"[\u4e00-\u9fff]")


if __name__ == "__main__":
    main()
