/** `portico activity` for activities without a workflow. */
import { newIdempotencyKey } from '../../../client/connection/idempotency-key.ts'
import { PorticoError } from '../../../client/portico-error.ts'
import { pathSegment } from '../../../client/target.ts'
import { type Command, type CommonFlags, callService, READ_TIMEOUT_MS, WAIT_RETRY_MS } from '../../command.ts'
import { exitCodeOfStatus } from '../../exit-code.ts'
import { Interruption } from '../../failures.ts'
import { type ArgumentFlags, readArguments, readObjectArgument } from '../../flags/json-argument.ts'
import { readDuration } from '../../flags/number-flags.ts'
import { cellOf, pairs } from '../../output/table.ts'
import { jsonForTerminal, paintStatus } from '../../output/terminal.ts'
import { listActivities } from './list.ts'

interface StartFlags extends CommonFlags, ArgumentFlags {
  id?: string
  catalog?: string
  options?: string
  key?: string
}

interface RunFlags extends CommonFlags {
  run?: string
}

interface Started {
  activityId: string
  runId: string
  status: string
}

interface Result extends Started {
  output: unknown
  error: string | null
}

async function startActivity(command: Command, activityName: string, flags: StartFlags): Promise<Started> {
  const { client, settings, signal } = command
  const { id, options, key: idempotencyKey = newIdempotencyKey() } = flags
  const body = {
    ...(settings.catalog !== null && { catalog: settings.catalog }),
    ...(options !== undefined && (await readObjectArgument('--options', options, signal))),
    ...((await readArguments(flags, signal)) ?? { args: [] }),
    ...(id !== undefined && { activityId: id }),
    activityName,
  }
  const request = { body, idempotencyKey, signal, timeoutMs: READ_TIMEOUT_MS }
  return (await client.request('POST', '/activity/start', request)) as Started
}

// A proxy may end a longer request.
const MAX_WAIT_MS = 25_000

/** Waits for the end. Ctrl-C and `--timeout` end the waiting, not the activity. */
async function printEnd({ client, signal, wait, show }: Command, activityId: string, flags: RunFlags) {
  const { timeout, run } = flags
  const path = pathOf(activityId, run)
  const deadlineAt = Date.now() + (readDuration('--timeout', timeout) ?? Number.POSITIVE_INFINITY)
  const hide = wait(`${activityId} is running`)
  try {
    while (true) {
      const waitMs = Math.max(0, Math.min(MAX_WAIT_MS, deadlineAt - Date.now()))
      const request = { query: { wait: waitMs }, signal, timeoutMs: waitMs + READ_TIMEOUT_MS }
      try {
        const result = (await client.request('GET', `${path}/result`, request)) as Result
        show(result, ({ status, output, error }) =>
          status === 'completed' ? jsonForTerminal(output) : `${paintStatus(cellOf(status))} ${cellOf(error)}`,
        )
        return exitCodeOfStatus(result.status)
      } catch (error) {
        const isOpen = error instanceof PorticoError && error.error === 'ActivityExecutionTimedOutError'
        if (!isOpen || Date.now() >= deadlineAt) throw error
      }
    }
  } catch (error) {
    throw error instanceof Interruption ? new Interruption({ activityId }) : error
  } finally {
    hide()
  }
}

function pathOf(id: string, run?: string): string {
  const path = `/activity/${pathSegment(id, 'an activity id')}`
  return run === undefined ? path : `${path}/runs/${pathSegment(run, 'a run id')}`
}

const IS_WAIT = { retryMs: WAIT_RETRY_MS }

/** Ends an activity. */
function control(method: 'PATCH' | 'POST', name: string, done: string) {
  return (id: string, flags: RunFlags & { reason?: string }): Promise<void> =>
    callService(flags, async ({ client, signal, show }) => {
      const body = flags.reason === undefined ? {} : { reason: flags.reason }
      const request = { body, signal, timeoutMs: READ_TIMEOUT_MS }
      return show(await client.request(method, `${pathOf(id, flags.run)}/${name}`, request), () =>
        done.replace('%', cellOf(id)),
      )
    })
}

export const STANDALONE_COMMANDS = {
  ls: listActivities,
  run: (name: string, flags: StartFlags): Promise<void> =>
    callService(
      flags,
      async (command) => {
        const { activityId, runId } = await startActivity(command, name, flags)
        return printEnd(command, activityId, { ...flags, run: runId })
      },
      IS_WAIT,
    ),
  start: (name: string, flags: StartFlags): Promise<void> =>
    callService(flags, async (command) =>
      command.show(await startActivity(command, name, flags), ({ status, activityId, runId }) =>
        pairs([
          ['Status', paintStatus(cellOf(status))],
          ['Id', cellOf(activityId)],
          ['Run', cellOf(runId)],
        ]),
      ),
    ),
  result: (id: string, flags: RunFlags): Promise<void> =>
    callService(flags, (command) => printEnd(command, id, flags), IS_WAIT),
  status: (id: string, flags: RunFlags): Promise<void> =>
    callService(flags, async ({ client, signal, show }) => {
      const options = { signal, timeoutMs: READ_TIMEOUT_MS }
      return show(await client.request('GET', `${pathOf(id, flags.run)}/status`, options), jsonForTerminal)
    }),
  stop: control('PATCH', 'stop', 'The cancellation of activity % is requested.'),
  terminate: control('POST', 'terminate', 'Activity % has ended.'),
}
