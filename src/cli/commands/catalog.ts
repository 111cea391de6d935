/** `portico catalog`. */
import { type CommonFlags, callService, READ_TIMEOUT_MS } from '../command.ts'
import { renderCatalog } from '../output/lists.ts'

export async function catalog(flags: CommonFlags): Promise<void> {
  await callService(flags, async ({ client, signal, columns, show }) =>
    show(await client.catalog(undefined, { signal, timeoutMs: READ_TIMEOUT_MS }), (catalog) =>
      renderCatalog(catalog, columns),
    ),
  )
}
