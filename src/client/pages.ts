/** The pages of lists. */
import type { Connection } from './connection/connection.ts'
import type { CallOptions } from './connection/options.ts'
import type { RunFilter } from './responses.ts'

/** The items of a list. `for await` reads all of them, page by page. No request is sent before that. */
export interface Pages<Item, Page> extends AsyncIterable<Item> {
  /** The first page, or that of `pageToken`. */
  page(): Promise<Page>
  /** This page and those that follow. */
  pages(): AsyncIterable<Page>
}

export interface PageReader<Key extends string, Page> {
  /** Without a token: the first page, or that of `pageToken`. */
  read(token?: string): Promise<Page>
  /** Where a page has its items. */
  key: Key
  /** Null after the last page. */
  nextToken(page: Page): string | null
}

export function toPages<Key extends string, Item, Page extends Record<Key, Item[]>>({
  read,
  key,
  nextToken,
}: PageReader<Key, Page>): Pages<Item, Page> {
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
      for await (const page of pages()) yield* page[key]
    },
  }
}

/** The pages of a list, which have their items as `key`. The options but those of the call are its parameters. */
export function filteredPages<Key extends string, Item, Page extends Record<Key, Item[]> & NextPage>(
  connection: Connection,
  path: string,
  {
    signal,
    timeoutMs,
    ...filter
  }: CallOptions & Pick<RunFilter, 'searchAttributes'> & { pageToken?: string | undefined },
  key: Key,
): Pages<Item, Page> {
  const query = filterQuery(filter)
  return toPages({
    read: (pageToken = filter.pageToken) =>
      connection.send({ method: 'GET', path, query: { ...query, pageToken } }, { signal, timeoutMs }),
    key,
    nextToken: ({ nextPageToken }) => nextPageToken,
  })
}

interface NextPage {
  nextPageToken: string | null
}

/** The parameters of a filter in the URL, with others that are given. */
export function filterQuery({
  searchAttributes = {},
  ...filter
}: Pick<RunFilter, 'searchAttributes'>): Record<string, unknown> {
  const attributes = Object.entries(searchAttributes).map(([name, value]) => [`searchAttributes[${name}]`, value])
  return { ...filter, ...Object.fromEntries(attributes) }
}
