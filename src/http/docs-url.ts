// The same pages are in the package, below docs/.
const DOCS = 'https://github.com/portico/portico/blob/main/docs'

/** The URL of a page of the documentation, for responses. */
export function docsUrl(page: `${string}.md` | `${string}.md#${string}`): string {
  return `${DOCS}/${page}`
}
