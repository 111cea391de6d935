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

export async function signal(id: string, name: string, flags: MessageFlags): Promise<void> {
  await callService(flags, async ({ client, signal, show }) => {
    const accepted = await handleOf(client, id, flags).signal(name, { ...(await messageOf(flags, signal)), signal })
    return show(
      accepted,
      ({ workflowId, runId }) => `Signal ${cellOf(name)} sent to ${cellOf(workflowId)} (run ${cellOf(runId)}).`,
    )
  })
}

export async function query(id: string, name: string, flags: MessageFlags): Promise<void> {
  const act = async ({ client, signal, wait, show }: Command) => {
    const request = await messageOf(flags, signal)
    const hide = wait(`waiting for query ${name} of ${id}`)
    const result = await handleOf(client, id, flags)
      .query(name, { ...request, signal })
      .finally(hide)
    return show(result, jsonForTerminal)
  }
  await callService(flags, act, { noResponseCode: EXIT.timedOut })
}

export async function update(id: string, name: string, flags: MessageFlags): Promise<void> {
  const act = async ({ client, signal, wait, show }: Command) => {
    const request = await messageOf(flags, signal)
    const hide = wait(`waiting for update ${name} of ${id}`)
    const result = await handleOf(client, id, flags)
      .update(name, { ...request, signal })
      .finally(hide)
    return show(result, jsonForTerminal)
  }
  await callService(flags, act, { noResponseCode: EXIT.timedOut })
}

async function messageOf(flags: MessageFlags, signal: AbortSignal): Promise<MessageRequest> {
  const given = await readArguments(flags, signal)
  const timeoutMs = readDuration('--timeout', flags.timeout)
  return {
    ...(given !== null && ('args' in given ? given : { payload: given.input })),
    ...(flags.key !== undefined && { idempotencyKey: flags.key }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  }
}
