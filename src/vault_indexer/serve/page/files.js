/** Files of the vault that the browser shows itself: PDFs, sound and films. */

import { fileAddress } from "./api.js";
import { h } from "./dom.js";

/** As the daemon sends them, see `vault_files`. */
const PDF = /\.pdf$/i;
const SOUND = /\.(?:mp3|wav|m4a|flac|ogg|oga|opus)$/i;
const FILM = /\.(?:mp4|m4v|mov|webm|ogv|mkv)$/i;

/**
 * Whether the browser has a viewer for a file of this name.
 * @param {string} path
 */
export function isViewable(path) {
  return PDF.test(path) ? navigator.pdfViewerEnabled : SOUND.test(path) || FILM.test(path);
}

/** @param {string} path */
export function isPdf(path) {
  return PDF.test(path);
}

/**
 * What shows a file at a place, as links name it: `page=3` of a PDF, `t=90` (seconds) of sound or a film.
 * @param {string} path
 * @param {string} place
 */
export async function fileViewer(path, place) {
  const known = /^(?:page|t)=[\d.,:]+$/.test(place) ? [place] : [];
  const fragment = [...known, ...(PDF.test(path) ? ["navpanes=0"] : [])].join("&");
  const src = `${await fileAddress(path)}${fragment && `#${fragment}`}`;
  const name = path.split("/").pop() ?? path;
  if (PDF.test(path)) return h("iframe", { class: "pdf", src, title: name });
  return h(SOUND.test(path) ? "audio" : "video", { controls: true, preload: "metadata", src, "aria-label": name });
}

/**
 * A link that opens a file in a tab of its own, or saves one that the browser does not show.
 * @param {string} path
 */
export function fileLink(path) {
  const isShown = PDF.test(path) || SOUND.test(path) || FILM.test(path);
  const link = h("a", { class: "button", target: isShown ? "_blank" : null, rel: "noopener",
    download: isShown ? null : path.split("/").pop() }, isShown ? "Open the file" : "Save the file");
  void fileAddress(path).then((to) => link.setAttribute("href", to));
  return link;
}
