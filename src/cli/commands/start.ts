import type { StartRequest, WorkflowHandle } from '../../client/client.ts'
import type { OpenRun } from '../../client/responses.ts'
import { type Command, type CommonFlags, callService, READ_TIMEOUT_MS, WAIT_RETRY_MS } from '../command.ts'
import { exitCodeOfStatus } from '../exit-code.ts'
import { Interruption, UsageError } from '../failures.ts'
import { type ArgumentFlags, readArguments, readObjectArgument } from '../flags/json-argument.ts'
import { readDuration } from '../flags/number-flags.ts'
import { renderProgress, renderResult } from '../output/run.ts'
import { cellOf, pairs } from '../output/table.ts'
import { paintStatus, printable, printNote } from '../output/terminal.ts'

export interface StartFlags extends CommonFlags, ArgumentFlags {
  id?: string
  key?: string
  options?: string
}

/** `portico start`. */
export async function startWithoutWaiting(workflow: string, flags: StartFlags): Promise<void> {
  await callService(flags, async (command) => {
    const { workflowId, runId } = await startWorkflow(command, workflow, await readStart(command, flags))
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
export async function startAndWait(workflow: string, flags: StartFlags & { timeout?: string }): Promise<void> {
  const act = async (command: Command) => {
    const timeoutMs = readDuration('--timeout', flags.timeout)
    const request = await readStart(command, flags)
    const beganAt = Date.now()
    const handle = await startWorkflow(command, workflow, request, timeoutMs)
    const leftMs = timeoutMs === undefined ? undefined : Math.max(0, timeoutMs - (Date.now() - beganAt))
    const result = await settled(handle, command, leftMs)
    command.show(result, renderResult)
    return exitCodeOfStatus(result.status)
  }
  await callService(flags, act, { retryMs: WAIT_RETRY_MS })
}

/** `portico validate`. */
export async function validateStart(workflow: string, flags: StartFlags): Promise<void> {
  await callService(flags, async (command) => {
    const { client, settings, signal, show } = command
    const request = await readStart(command, flags)
    const catalog = settings.catalog === null ? {} : { catalog: settings.catalog }
    const hasArguments = 'input' in request || 'args' in request || 'payloads' in request
    const body = { ...catalog, ...request, workflowName: workflow, ...(!hasArguments && { args: [] }) }
    const options = { body, signal, timeoutMs: READ_TIMEOUT_MS }
    return show(await client.request('POST', '/workflow/validate', options), () => 'The request is valid.')
  })
}

/** May wait for stdin, which `--timeout` does not limit. */
async function readStart({ signal }: Command, flags: StartFlags): Promise<StartRequest> {
  const { id, key, options } = flags
  const request = {
    ...(await readArguments(flags, signal)),
    ...(options !== undefined && (await readStartOptions(options, signal))),
    ...(id !== undefined && { workflowId: id }),
    ...(key !== undefined && { idempotencyKey: key }),
  }
  // The service checks it.
  return request as StartRequest
}

async function startWorkflow(
  { client, signal, wait }: Command,
  workflow: string,
  request: StartRequest,
  timeoutMs = READ_TIMEOUT_MS,
) {
  const hide = wait(`starting ${workflow}`)
  return client.start(workflow, { ...request, signal, timeoutMs }).finally(hide)
}

/** Says that the code of the workflow fails, if no line on a terminal does. */
export function noteProblem(workflowId: string, run: Partial<OpenRun>): void {
  if (run.problem !== undefined && !process.stderr.isTTY)
    printNote(printable(`${workflowId} is running${renderProgress(run)}`))
}

/** Waits for the end of a run, with a live line. Ctrl-C ends the waiting, not the workflow. */
export async function settled(handle: WorkflowHandle, { signal, wait }: Command, timeoutMs: number | undefined) {
  const { workflowId } = handle
  let state: Partial<OpenRun> = {}
  const onOpen = (run: OpenRun) => {
    if (state.problem === undefined) noteProblem(workflowId, run)
    state = run
  }
  const hide = wait(`${workflowId} is running`, () => renderProgress(state))
  try {
    return await handle.resultSettled({ signal, timeoutMs, onOpen })
  } catch (error) {
    throw error instanceof Interruption ? new Interruption({ ...state, workflowId }) : error
  } finally {
    hide()
  }
}

/** Fields of a start that the command line sets in another way, or not at all. */
const NOT_OPTIONS = new Map([
  ['workflowName', 'it is the first argument of the command'],
  ['input', 'use --input'],
  ['args', 'use --arg'],
  ['payloads', 'use --payloads'],
  ['workflowId', 'use --id'],
  ['catalog', 'use --catalog'],
  ['taskQueue', 'use --catalog'],
  ['idempotencyKey', 'use --key'],
  ['timeout', 'use --timeout of portico run'],
  ['timeoutMs', 'use --timeout of portico run'],
  // An option of the client.
  ['signal', 'it is not a start option'],
])

/**
 * The start options of `--options`. Throws a `UsageError` for fields with a flag of their own, because one value would
 * silently replace the other.
 */
async function readStartOptions(value: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  const options = await readObjectArgument('--options', value, signal)
  const issues = [...NOT_OPTIONS]
    .filter(([field]) => Object.hasOwn(options, field))
    .map(([field, reason]) => `--options must not contain ${field}: ${reason}`)
  if (issues.length > 0) throw new UsageError(issues.join('\n'))
  return options
}
