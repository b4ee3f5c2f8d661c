// What is wrong with a page as it is drawn, a line for each, and the links that leave it.
(() => {
  const wrong = [];
  const short = text => text.trim().replace(/\s+/g, " ").slice(0, 70);
  const root = document.documentElement;
  const content = document.querySelector("article") || document.body;

  if (root.scrollWidth > innerWidth) wrong.push(`the page scrolls sideways, by ${root.scrollWidth - innerWidth} px`);
  if (innerWidth >= 1400)
    for (const code of content.querySelectorAll("pre > code"))
      if (code.scrollWidth > code.clientWidth)
        wrong.push(`a block of code is ${code.scrollWidth - code.clientWidth} px wider than its box: ${short(code.textContent)}`);
  for (const said of content.querySelectorAll(".language-text pre > code"))
    if (said.scrollWidth > said.clientWidth) wrong.push(`what a program says is cut: ${short(said.textContent)}`);
  for (const image of document.images) {
    if (/^(svg|png|image)?$/.test(image.alt)) wrong.push(`a figure has no alternative text: ${image.src}`);
    if (!image.complete || !image.naturalWidth) wrong.push(`a figure does not load: ${image.src}`);
  }
  // The smallest letters of a figure: what is set as text, or what Matplotlib draws, at a hundredth of its size.
  const letters = svg => Math.min(
    ...[...svg.matchAll(/font-size(?:="|:\s*)([\d.]+)/g)].map(found => +found[1]),
    ...[...svg.matchAll(/scale\(([\d.]+) -\1\)/g)].map(found => 100 * found[1]));
  const read = address => {
    const asked = new XMLHttpRequest();
    asked.open("GET", address, false);
    asked.send();
    return asked.responseText;
  };
  if (innerWidth <= 600)
    for (const image of document.images) {
      const svg = /\.svg/.test(image.src) && image.clientWidth ? read(image.src) : "";
      const [, width] = svg.match(/viewBox="[\d.-]+ [\d.-]+ ([\d.]+)/) || [];
      const size = letters(svg) * image.clientWidth / width;
      if (size < 8) wrong.push(`a figure has letters of ${size.toFixed(1)} px: ${image.src}`);
    }

  const texts = document.createTreeWalker(content, NodeFilter.SHOW_TEXT, node =>
    node.parentElement.closest("code, pre, script, style") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  while (texts.nextNode())
    if (/\\[([]|\$\$|\$[^$ ][^$]*\$|\\[a-z]{3,}/.test(texts.currentNode.data))
      wrong.push(`mathematics is left as TeX: ${short(texts.currentNode.data)}`);

  const links = [...document.querySelectorAll("a[href]")].map(link => link.href);
  return {wrong, links: [...new Set(links)]};
})()
