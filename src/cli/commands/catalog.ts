/** `portico catalog`. */
import { type CommonFlags, callService, READ_TIMEOUT_MS } from '../command.ts'
import { renderCatalog } from '../output/catalog.ts'
import type { Settings } from '../settings.ts'

export async function catalog(flags: CommonFlags): Promise<void> {
  await callService(flags, async ({ client, settings, signal, show }) =>
    show(await client.request('GET', pathOfCatalog(settings), { signal, timeoutMs: READ_TIMEOUT_MS }), renderCatalog),
  )
}

export function pathOfCatalog({ catalog }: Settings): string {
  return catalog === null ? '/workflow/catalog' : `/workflow/catalog/${encodeURIComponent(catalog)}`
}
