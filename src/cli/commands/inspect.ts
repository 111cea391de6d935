/** `portico status`, `explain`, `input` and `trace`. */
import { type CommonFlags, callService, READ_TIMEOUT_MS } from '../command.ts'
import { handleOf, type RunFlags } from '../flags/run-ref.ts'
import { renderExplanation, renderStatus, renderTrace } from '../output/run.ts'
import { jsonForTerminal } from '../output/terminal.ts'

export async function status(id: string, flags: CommonFlags & RunFlags): Promise<void> {
  await callService(flags, async ({ client, signal, show }) =>
    show(await handleOf(client, id, flags).status({ signal, timeoutMs: READ_TIMEOUT_MS }), renderStatus),
  )
}

export async function explain(id: string, flags: CommonFlags & RunFlags): Promise<void> {
  await callService(flags, async ({ client, signal, show }) =>
    show(await handleOf(client, id, flags).explain({ signal, timeoutMs: READ_TIMEOUT_MS }), renderExplanation),
  )
}

export async function input(id: string, flags: CommonFlags & RunFlags): Promise<void> {
  await callService(flags, async ({ client, signal, show }) => {
    const given = await handleOf(client, id, flags).input({ signal, timeoutMs: READ_TIMEOUT_MS })
    return show(given, ({ input }) => jsonForTerminal(input))
  })
}

export async function trace(id: string, flags: CommonFlags & RunFlags): Promise<void> {
  await callService(flags, async ({ client, signal, show }) =>
    show(await handleOf(client, id, flags).trace({ signal, timeoutMs: READ_TIMEOUT_MS }), renderTrace),
  )
}
