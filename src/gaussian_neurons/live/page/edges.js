// Marks columns that can be scrolled further, so that layout.css fades their edges.

const MIN_SCROLL = 3; // px: smaller distances are rounding errors

/** Keeps data-more of a column up to date: "", "above", "below" or both. */
function watch(column) {
  const update = () => {
    const above = column.scrollTop > MIN_SCROLL;
    const below = column.scrollHeight - column.clientHeight - column.scrollTop > MIN_SCROLL;
    const more = [above && "above", below && "below"].filter(Boolean).join(" ");
    if (column.dataset.more !== more) column.dataset.more = more;
  };
  column.addEventListener("scroll", update, { passive: true });
  const sizes = new ResizeObserver(update);
  for (const element of [column, ...column.children]) sizes.observe(element);
  update();
}

for (const column of document.querySelectorAll("#show, .data")) watch(column);
