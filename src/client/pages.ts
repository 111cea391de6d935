/** The items of a list. `for await` reads all of them, page by page. No request is sent before that. */
export interface Pages<Item, Page> extends AsyncIterable<Item> {
  /** The first page, or that of `pageToken`. */
  page(): Promise<Page>
  /** This page and those that follow. */
  pages(): AsyncIterable<Page>
}

export interface PageReader<Item, Page> {
  /** Without a token: the first page, or that of `pageToken`. */
  read(token?: string): Promise<Page>
  itemsOf(page: Page): Item[]
  /** Null after the last page. */
  nextToken(page: Page): string | null
}

export function toPages<Item, Page>({ read, itemsOf, nextToken }: PageReader<Item, Page>): Pages<Item, Page> {
  async function* pages() {
    let token: string | null | undefined
    while (token !== null) {
      const page: Page = await read(token)
      yield page
      token = nextToken(page)
    }
  }
  return {
    page: () => read(),
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const page of pages()) yield* itemsOf(page)
    },
  }
}
