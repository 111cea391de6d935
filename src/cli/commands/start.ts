import type { StartRequest, WorkflowHandle } from '../../client/client.ts'
import { type Command, type CommonFlags, callService, READ_TIMEOUT_MS, WAIT_RETRY_MS } from '../command.ts'
import { exitCodeOfStatus } from '../exit-code.ts'
import { Interruption } from '../failures.ts'
import { type ArgumentFlags, readArguments, readObjectArgument } from '../json-argument.ts'
import { readDuration } from '../number-flags.ts'
import { paintStatus } from '../output/paint.ts'
import { renderResult } from '../output/run.ts'
import { shellWord } from '../output/shell-word.ts'
import { pairs } from '../output/table.ts'
import { cellOf } from '../output/value.ts'
import { showWaiting } from '../output/wait-line.ts'

export interface StartFlags extends CommonFlags, ArgumentFlags {
  id?: string
  key?: string
  options?: string
}

/** `portico start`. */
export async function start(workflow: string, flags: StartFlags): Promise<void> {
  await callService(flags, async (command) => {
    const { workflowId, runId } = await startWorkflow(command, workflow, flags)
    return command.show({ workflowId, runId, status: 'running' }, (started) =>
      pairs([
        ['Status', paintStatus(cellOf(started.status))],
        ['Id', cellOf(started.workflowId)],
        ['Run', cellOf(started.runId)],
      ]),
    )
  })
}

/** `portico run`: with two requests, so that the id is known while it waits. */
export async function run(workflow: string, flags: StartFlags & { timeout?: string }): Promise<void> {
  const act = async (command: Command) => {
    const timeoutMs = readDuration('--timeout', flags.timeout)
    const beganAt = Date.now()
    const handle = await startWorkflow(command, workflow, flags, timeoutMs)
    const leftMs = timeoutMs === undefined ? undefined : Math.max(0, timeoutMs - (Date.now() - beganAt))
    const result = await settled(handle, command, leftMs)
    command.show(result, renderResult)
    return exitCodeOfStatus(result.status)
  }
  await callService(flags, act, { retryMs: WAIT_RETRY_MS })
}

async function startWorkflow(
  { client, settings, signal }: Command,
  workflow: string,
  flags: StartFlags,
  timeoutMs = READ_TIMEOUT_MS,
) {
  const { id, key, options } = flags
  const request = {
    ...(options !== undefined && (await readObjectArgument('--options', options))),
    ...(await readArguments(flags)),
    ...(id !== undefined && { workflowId: id }),
    ...(key !== undefined && { idempotencyKey: key }),
    ...(settings.catalog !== null && { catalog: settings.catalog }),
    signal,
    timeoutMs: Math.min(timeoutMs, READ_TIMEOUT_MS),
  }
  const hide = showWaiting(`starting ${workflow}`)
  // The service checks it.
  return client.start(workflow, request as StartRequest).finally(hide)
}

/** Waits for the end of a run, with a live line. Ctrl-C ends the waiting, not the workflow. */
export async function settled(handle: WorkflowHandle, { signal }: Command, timeoutMs: number | undefined) {
  const hide = showWaiting(`${handle.workflowId} is running`)
  try {
    return await handle.resultSettled({ signal, ...(timeoutMs !== undefined && { timeoutMs }) })
  } catch (error) {
    if (!(error instanceof Interruption)) throw error
    throw new Interruption(`The workflow keeps running. Wait for it: portico result ${shellWord(handle.workflowId)}`)
  } finally {
    hide()
  }
}
