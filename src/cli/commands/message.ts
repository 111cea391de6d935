/** `portico signal`, `query` and `update`. */
import type { MessageRequest } from '../../client/client.ts'
import { type Command, type CommonFlags, callService } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { type ArgumentFlags, readArguments } from '../flags/json-argument.ts'
import { readDuration } from '../flags/number-flags.ts'
import { handleOf, type RunFlags } from '../flags/run-ref.ts'
import { cellOf } from '../output/table.ts'
import { jsonForTerminal } from '../output/terminal.ts'

export interface MessageFlags extends CommonFlags, RunFlags, ArgumentFlags {
  key?: string
  timeout?: string
}

/** Sends a message to a handler and prints its result. */
function awaiting(kind: 'query' | 'update') {
  return async (id: string, name: string, flags: MessageFlags): Promise<void> => {
    const act = async ({ client, signal, wait, show }: Command) => {
      const request = { ...(await messageOf(flags, signal)), signal }
      const hide = wait(`waiting for ${kind} ${name} of ${id}`)
      return show(await handleOf(client, id, flags)[kind](name, request).finally(hide), jsonForTerminal)
    }
    await callService(flags, act, { noResponseCode: EXIT.timedOut })
  }
}

export const MESSAGE_COMMANDS = {
  async signal(id: string, name: string, flags: MessageFlags): Promise<void> {
    await callService(flags, async ({ client, signal, show }) =>
      show(
        await handleOf(client, id, flags).signal(name, { ...(await messageOf(flags, signal)), signal }),
        ({ workflowId, runId }) => `Signal ${cellOf(name)} sent to ${cellOf(workflowId)} (run ${cellOf(runId)}).`,
      ),
    )
  },
  query: awaiting('query'),
  update: awaiting('update'),
}

async function messageOf(flags: MessageFlags, signal: AbortSignal): Promise<MessageRequest> {
  const given = await readArguments(flags, signal)
  const timeoutMs = readDuration('--timeout', flags.timeout)
  return {
    ...(given !== null && ('input' in given ? { payload: given.input } : given)),
    ...(flags.key !== undefined && { idempotencyKey: flags.key }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  }
}
