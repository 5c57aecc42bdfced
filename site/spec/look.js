// What is asked of a page, or of a picture that is opened by itself. It
// returns what is wrong, as sentences; a page also its links and anchors.
// `moment`: of an animation, in ms.
const [moment] = arguments;
const wrong = [];
const picture = document.documentElement.localName === "svg";
const ours = picture ? document.documentElement : document.body;

for (const animation of document.getAnimations()) {
  animation.pause();
  animation.currentTime = moment;
}

function brief(text) { return JSON.stringify(text.trim().slice(0, 50)); }

function is_seen(element) {
  for (let one = element; one && one.nodeType === 1; one = one.parentNode) {
    const style = getComputedStyle(one);
    if (style.opacity === "0" || style.visibility !== "visible"
      || style.display === "none") return false;
  }
  return true;
}

// Contrast, as WCAG 2 defines it.
function parse(colour) {
  const [r, g, b, a = 1] = colour.match(/[\d.]+/g).map(Number);
  return { r, g, b, a };
}
function over(top, ground) {
  const mix = (x, y) => x * top.a + y * (1 - top.a);
  return { r: mix(top.r, ground.r), g: mix(top.g, ground.g),
    b: mix(top.b, ground.b), a: 1 };
}
function luminance({ r, g, b }) {
  const [x, y, z] = [r, g, b].map(v => v / 255).map(v =>
    v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
}
function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}
function check_contrast(text, ink, layers) {
  let ground = null;
  for (const layer of layers.reverse())
    ground = ground || layer.a === 1 ? over(layer, ground || layer) : layer;
  if (!ground || ground.a < 1) {
    wrong.push(`${brief(text)} stands on nothing`);
    return;
  }
  const found = contrast(over(ink, ground), ground);
  if (found < 4.5)
    wrong.push(`${brief(text)} has a contrast of ${found.toFixed(2)}`);
}

// ---- A picture ---------------------------------------------------------------

function shapes_at(x, y) {
  return document.elementsFromPoint(x, y).filter(one =>
    ["rect", "path", "circle"].includes(one.localName) && is_seen(one)
    && getComputedStyle(one).fill !== "none");
}

function check_text(text, view) {
  const box = text.getBBox(), said = text.textContent;
  if (box.x < view.x || box.y < view.y
    || box.x + box.width > view.x + view.width
    || box.y + box.height > view.y + view.height)
    wrong.push(`${brief(said)} is cut off by the picture's edge`);
  const on_screen = text.getBoundingClientRect();
  const middle = (on_screen.top + on_screen.bottom) / 2;
  let crossing = false;
  for (const part of [0.02, 0.5, 0.98]) {
    const shapes = shapes_at(on_screen.left + part * on_screen.width, middle);
    // The box in which it stands.
    const around = shapes.find(one => one.localName === "rect")
      ?.getBoundingClientRect();
    if (around && (on_screen.left < around.left - 1
      || on_screen.right > around.right + 1))
      crossing = true;
    check_contrast(said, parse(getComputedStyle(text).fill), shapes.map(one => {
      const style = getComputedStyle(one);
      const colour = parse(style.fill);
      colour.a *= style.fillOpacity;
      return colour;
    }));
  }
  if (crossing) wrong.push(`${brief(said)} is wider than its box`);
}

// Where letters stand, without the room above and below them, which the next
// line may use, and without what bars draw beyond their cells.
function letters(text) {
  const box = text.getBBox(), size = parseFloat(getComputedStyle(text).fontSize);
  const middle = box.y + box.height / 2;
  return { left: text.getStartPositionOfChar(0).x,
    right: text.getEndPositionOfChar(text.getNumberOfChars() - 1).x,
    top: middle - size * 0.45, bottom: middle + size * 0.45,
    said: text.textContent };
}

function check_picture() {
  const view = ours.viewBox.baseVal;
  const texts = [...ours.querySelectorAll("text")].filter(is_seen);
  if (!texts.length) wrong.push("there is no text");
  for (const text of texts) check_text(text, view);
  const boxes = texts.map(letters);
  boxes.forEach((one, i) => boxes.slice(i + 1).forEach(other => {
    const across = Math.min(one.right, other.right)
      - Math.max(one.left, other.left);
    const down = Math.min(one.bottom, other.bottom)
      - Math.max(one.top, other.top);
    if (across > 0.5 && down > 0.5)
      wrong.push(`${brief(one.said)} and ${brief(other.said)} overlap`);
  }));
  if (ours.getAttribute("role") !== "img") wrong.push("it has no role");
  for (const name of ["title", "desc"])
    if (!(ours.querySelector(`:scope > ${name}`)?.textContent.length > 20))
      wrong.push(`it has no ${name}`);
  for (const one of ours.querySelectorAll("*"))
    for (const { name, value } of one.attributes)
      if (/href$|^src$/.test(name) && !value.startsWith("#"))
        wrong.push(`it needs ${value}`);
  if (/url\((?!#)|@import/.test(ours.querySelector("style").textContent))
    wrong.push("its style sheet needs something else");
}

// ---- A page --------------------------------------------------------------------

function check_page() {
  const room = document.documentElement.scrollWidth;
  if (room > innerWidth) {
    const widest = [...document.querySelectorAll("main *, header *, footer *")]
      .find(one => one.getBoundingClientRect().right > innerWidth
        && !one.closest("pre, .table"));
    wrong.push(`it is ${room} wide, where there is room for ${innerWidth}: `
      + brief(widest ? widest.outerHTML : ""));
  }
  for (const image of document.images) {
    if (!image.complete || !image.naturalWidth)
      wrong.push(`the picture ${image.getAttribute("src")} is not there`);
    if (!image.alt) wrong.push(`${image.getAttribute("src")} has no alt text`);
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (seen.has(element) || !walker.currentNode.data.trim()
      || !is_seen(element)) continue;
    seen.add(element);
    const layers = [];
    for (let one = element; one; one = one.parentElement) {
      const layer = parse(getComputedStyle(one).backgroundColor);
      if (layer.a > 0) layers.push(layer);
      if (layer.a === 1) break;
    }
    check_contrast(element.textContent, parse(getComputedStyle(element).color),
      layers);
  }
  return {
    links: [...document.querySelectorAll("a[href]")].map(one => one.href),
    anchors: [...document.querySelectorAll("[id]")].map(one => one.id),
  };
}

const more = picture ? check_picture() : check_page();
return { wrong, ...more };
