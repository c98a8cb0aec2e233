/** The words of a query in a picture: marks over the lines that were recognised in it. */

import { h } from "./dom.js";

/**
 * Mark the places of a picture whose text is marked below it.
 * @param {HTMLElement} place what holds the picture
 * @param {HTMLElement} text with the paragraphs that were recognised, in the order of `boxes`
 * @param {number[][]} boxes of each line the left, top, right and bottom in thousandths, and the number of letters
 * @param {Range[]} ranges in the text
 */
export function markPicture(place, text, boxes, ranges) {
  for (const mark of place.querySelectorAll(".picture-mark")) mark.remove();
  for (const range of ranges) {
    const first = lettersBefore(text, range);
    place.append(...marksOf(boxes, first, first + lettersIn(range.toString())));
  }
}

/**
 * The marks of letters, which may be on two lines.
 * @param {number[][]} boxes
 * @param {number} first letter, counted over all lines
 * @param {number} end
 */
function marksOf(boxes, first, end) {
  const marks = [];
  let begin = 0;
  for (const [left, top, right, bottom, letters] of boxes) {
    const [from, to] = [Math.max(0, first - begin), Math.min(letters, end - begin)];
    begin += letters;
    if (from >= to) continue;
    const step = (right - left) / letters;
    const mark = h("span", { class: "picture-mark" });
    mark.style.inset = `${top / 10}% ${100 - (left + to * step) / 10}% ${100 - bottom / 10}% ${(left + from * step) / 10}%`;
    marks.push(mark);
  }
  return marks;
}

/**
 * @param {HTMLElement} text
 * @param {Range} range
 */
function lettersBefore(text, range) {
  const before = new Range();
  before.setStart(text, 0);
  before.setEnd(range.startContainer, range.startOffset);
  return lettersIn(before.toString());
}

/** @param {string} text */
function lettersIn(text) {
  return Array.from(text.replace(/\s/g, "")).length;
}
