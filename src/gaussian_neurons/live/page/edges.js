// Tells columns that scroll at which of their edges there is more to come: layout.css fades it there.

const AT_LEAST = 3; // px: less is no more than rounding

/** Follows one column: data-more is "", "above", "below" or both. */
function follow(column) {
  const tell = () => {
    const above = column.scrollTop > AT_LEAST;
    const below = column.scrollHeight - column.clientHeight - column.scrollTop > AT_LEAST;
    const more = [above && "above", below && "below"].filter(Boolean).join(" ");
    if (column.dataset.more !== more) column.dataset.more = more;
  };
  column.addEventListener("scroll", tell, { passive: true });
  const sizes = new ResizeObserver(tell);
  for (const element of [column, ...column.children]) sizes.observe(element);
  tell();
}

for (const column of document.querySelectorAll("#show, .controls")) follow(column);
