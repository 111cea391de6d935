/** `portico catalog` and `openapi`. */
import { type CommonFlags, callService, READ_TIMEOUT_MS } from '../command.ts'
import { renderCatalog, renderQueue } from '../output/lists.ts'

export async function catalog(flags: CommonFlags): Promise<void> {
  await callService(flags, async ({ client, signal, columns, show }) =>
    show(await client.catalog(undefined, { signal, timeoutMs: READ_TIMEOUT_MS }), (catalog) =>
      renderCatalog(catalog, columns),
    ),
  )
}

export async function queue(name: string, flags: CommonFlags): Promise<void> {
  await callService(flags, async ({ client, signal, show }) =>
    show(await client.taskQueue(name, { signal, timeoutMs: READ_TIMEOUT_MS }), renderQueue),
  )
}

/** Prints the document as JSON, also on a terminal: it is for programs. */
export async function openapi(flags: CommonFlags): Promise<void> {
  await callService({ ...flags, json: true }, async ({ client, settings, signal, show }) => {
    const query = settings.catalog === null ? {} : { catalog: settings.catalog }
    return show(await client.request('GET', '/openapi.json', { query, signal, timeoutMs: READ_TIMEOUT_MS }), String)
  })
}
