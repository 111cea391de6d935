/** Adds to Swagger UI's elements what assistive technology needs: names of fields, levels of headings, keyboard access. */

/** The first selector that matches a field gives it its name. */
const FIELD_NAMES = [
  ['.examples-select-element', () => 'Example'],
  ['.body-param__text', () => 'Request body'],
  ['[data-param-name] :is(input, select, textarea)', (field) => field.closest('[data-param-name]').dataset.paramName],
]

/** Completes the elements below `root`, now and whenever they change. */
export function keepAccessible(root) {
  new MutationObserver(() => complete(root)).observe(root, { childList: true, subtree: true })
  complete(root)
}

function complete(root) {
  for (const [selector, nameOf] of FIELD_NAMES)
    for (const field of root.querySelectorAll(`${selector}:not([aria-label])`))
      field.setAttribute('aria-label', nameOf(field))
  // The title is a first-level heading, and no second level follows.
  for (const heading of root.querySelectorAll(':is(h3, h4, h5):not([aria-level])'))
    heading.setAttribute('aria-level', String(Number(heading.tagName.at(-1)) - 1))
  for (const info of root.querySelectorAll('.information-container:not([role])')) {
    info.setAttribute('role', 'region')
    info.setAttribute('aria-label', 'About this API')
  }
  for (const table of root.querySelectorAll('.responses-table[role="region"]')) table.removeAttribute('role')
  for (const code of root.querySelectorAll('pre:not([tabindex])')) code.tabIndex = 0
}
