/** The commands that send one request about one run and print its response. */
import type { ReasonOptions, ResetRequest, WorkflowHandle } from '../../client/client.ts'
import type { CallOptions } from '../../client/connection/options.ts'
import { isObject } from '../../shared/lib/json.ts'
import { type CommonFlags, callService, READ_TIMEOUT_MS } from '../command.ts'
import { UsageError } from '../failures.ts'
import { readJsonArgument, readPayloads } from '../flags/json-argument.ts'
import { readInteger } from '../flags/number-flags.ts'
import { handleOf, type RunFlags } from '../flags/run-ref.ts'
import { renderExplanation, renderStatus, renderTrace } from '../output/run.ts'
import { cellOf } from '../output/table.ts'
import { jsonForTerminal, paintStatus } from '../output/terminal.ts'
import { MIN_TIMELINE_COLUMNS, renderTimeline } from '../output/timeline.ts'

type Options = CallOptions & { signal: AbortSignal }

/** Commands take the id of the run, other arguments and the flags. */
function ofRun<Body, More extends string[] = [], Flags = unknown>(
  send: (run: WorkflowHandle, flags: Flags, options: Options, ...more: More) => Promise<Body>,
  render: (body: Body, ...more: More) => string,
) {
  return (id: string, ...given: [...More, CommonFlags & RunFlags & Flags]): Promise<void> => {
    const flags = given.at(-1) as CommonFlags & RunFlags & Flags
    const more = given.slice(0, -1) as More
    return callService(flags, async ({ client, signal, show }) => {
      const body = await send(handleOf(client, id, flags), flags, { signal, timeoutMs: READ_TIMEOUT_MS }, ...more)
      return show(body, (shown) => render(shown, ...more))
    })
  }
}

interface ReasonFlags {
  reason?: string
}

function withReason({ reason }: ReasonFlags, options: CallOptions): ReasonOptions {
  return { ...options, ...(reason !== undefined && { reason }) }
}

interface ResetFlags extends ReasonFlags {
  step?: string
  event?: string
}

function toResetRequest({ step, event, ...flags }: ResetFlags, options: CallOptions): ResetRequest {
  if ((step === undefined) === (event === undefined)) throw new UsageError('Use either --step or --event')
  const point = event === undefined ? { stepName: step ?? '' } : { eventId: readInteger('--event', event) }
  return { ...withReason(flags, options), ...point }
}

export const RUN_COMMANDS = {
  status: ofRun((run, _, options) => run.status(options), renderStatus),
  explain: ofRun((run, _, options) => run.explain(options), renderExplanation),
  input: ofRun(
    (run, _, options) => run.input(options),
    ({ input }) => jsonForTerminal(input),
  ),
  trace: (id: string, flags: CommonFlags & RunFlags): Promise<void> =>
    callService(flags, async ({ client, signal, columns, show }) => {
      const trace = await handleOf(client, id, flags).trace({ signal, timeoutMs: READ_TIMEOUT_MS })
      const isDrawn = columns >= MIN_TIMELINE_COLUMNS && Number.isFinite(columns)
      return show(trace, (shown) => (isDrawn ? renderTimeline(shown, columns) : renderTrace(shown)))
    }),
  stop: ofRun(
    (run, flags: ReasonFlags, options) => run.stop(withReason(flags, options)),
    ({ workflowId, cancelRequested, status }) =>
      cancelRequested
        ? `Cancellation of ${cellOf(workflowId)} requested.`
        : `${cellOf(workflowId)} has ended already: ${paintStatus(cellOf(status))}.`,
  ),
  terminate: ofRun(
    (run, flags: ReasonFlags, options) => run.terminate(withReason(flags, options)),
    ({ workflowId, runId }) => `${cellOf(workflowId)} terminated (run ${cellOf(runId)}).`,
  ),
  pause: ofRun(
    (run, flags: ReasonFlags, options) => run.pause(withReason(flags, options)),
    ({ workflowId, runId }) => `${cellOf(workflowId)} is paused (run ${cellOf(runId)}).`,
  ),
  unpause: ofRun(
    (run, flags: ReasonFlags, options) => run.unpause(withReason(flags, options)),
    ({ workflowId, runId }) => `${cellOf(workflowId)} continues (run ${cellOf(runId)}).`,
  ),
  reset: ofRun(
    async (run, flags: ResetFlags, options) => run.reset(toResetRequest(flags, options)),
    ({ workflowId, runId, runsAgain }) => {
      const again = runsAgain.length === 0 ? '' : ` It executes again: ${runsAgain.map(cellOf).join(', ')}.`
      return `${cellOf(workflowId)} continues as run ${cellOf(runId)}.${again}`
    },
  ),
}

interface KeyFlags {
  key?: string
}

interface FailFlags extends KeyFlags {
  message: string
  name?: string
  details?: string
  retry: boolean
}

function withOwnKey({ key }: KeyFlags, options: CallOptions) {
  return { ...options, ...(key !== undefined && { idempotencyKey: key }) }
}

async function optionalJson<Name extends string>(name: Name, json: string | undefined, signal: AbortSignal) {
  return json === undefined ? {} : { [name]: await readJsonArgument(`--${name}`, json, signal) }
}

interface RetryFlags {
  dropHeartbeat?: boolean
  restoreOptions?: boolean
}

export const ACTIVITY_COMMANDS = {
  complete: ofRun(
    async (run, flags: KeyFlags & { output?: string; payloads?: string }, options, activity: string) =>
      run.completeActivity(activity, {
        ...withOwnKey(flags, options),
        ...(await optionalJson('output', flags.output, options.signal)),
        ...(flags.payloads !== undefined && { payloads: await readPayloads(flags.payloads, options.signal) }),
      }),
    ({ workflowId }, activity) => `Activity ${cellOf(activity)} of ${cellOf(workflowId)} completed.`,
  ),
  fail: ofRun(
    async (run, { message, name, retry, ...flags }: FailFlags, options, activity: string) => {
      const { details = [] } = await optionalJson('details', flags.details, options.signal)
      if (!Array.isArray(details)) throw new UsageError('--details must be a JSON array')
      return run.failActivity(activity, {
        ...withOwnKey(flags, options),
        message,
        ...(name !== undefined && { name }),
        ...(details.length > 0 && { details }),
        ...(!retry && { retryable: false }),
      })
    },
    ({ workflowId }, activity) => `Activity ${cellOf(activity)} of ${cellOf(workflowId)} failed.`,
  ),
  cancel: ofRun(
    async (run, flags: KeyFlags & { details?: string }, options, activity: string) =>
      run.cancelActivity(activity, {
        ...withOwnKey(flags, options),
        ...(await optionalJson('details', flags.details, options.signal)),
      }),
    ({ workflowId }, activity) => `Activity ${cellOf(activity)} of ${cellOf(workflowId)} is canceled.`,
  ),
  heartbeat: ofRun(
    async (run, { details }: { details?: string }, options, activity: string) =>
      run.heartbeatActivity(activity, { ...options, ...(await optionalJson('details', details, options.signal)) }),
    ({ workflowId, cancelRequested }, activity) =>
      cancelRequested
        ? `Activity ${cellOf(activity)} of ${cellOf(workflowId)} should end: its cancellation was requested.`
        : `Activity ${cellOf(activity)} of ${cellOf(workflowId)} is open.`,
  ),
  retry: ofRun(
    (run, { dropHeartbeat = false, restoreOptions = false }: RetryFlags, options, activity: string) =>
      run.activity(activity).retry({ ...options, dropHeartbeat, restoreOptions }),
    ({ workflowId }, activity) =>
      `The next attempt of activity ${cellOf(activity)} of ${cellOf(workflowId)} is due now.`,
  ),
  pause: ofRun(
    (run, { reason }: ReasonFlags, options, activity: string) =>
      run.activity(activity).pause({ ...options, ...(reason !== undefined && { reason }) }),
    ({ workflowId }, activity) => `Activity ${cellOf(activity)} of ${cellOf(workflowId)} is paused.`,
  ),
  unpause: ofRun(
    (run, _, options, activity: string) => run.activity(activity).unpause(options),
    ({ workflowId }, activity) => `Activity ${cellOf(activity)} of ${cellOf(workflowId)} continues.`,
  ),
  set: ofRun(
    async (run, flags: { options: string }, options, activity: string) => {
      const changes = await readJsonArgument('--options', flags.options, options.signal)
      if (!isObject(changes)) throw new UsageError('--options must be a JSON object')
      return run.activity(activity).set(changes, options)
    },
    ({ options }) => jsonForTerminal(options),
  ),
}
