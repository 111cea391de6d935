/** `portico openapi`. */
import { type CommonFlags, callService, READ_TIMEOUT_MS } from '../command.ts'

/** Prints the document as JSON, also on a terminal: it is for programs. */
export async function openapi(flags: CommonFlags): Promise<void> {
  await callService({ ...flags, json: true }, async ({ client, settings, signal, show }) => {
    const query = settings.catalog === null ? {} : { catalog: settings.catalog }
    return show(await client.request('GET', '/openapi.json', { query, signal, timeoutMs: READ_TIMEOUT_MS }), String)
  })
}
