/** What is done to a subject over HTTP or with Temporal's own CLI, and what both see of it. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ensureTemporal } from '../../src/cli/dev/servers/temporal.ts'
import { activityCalls } from '../conformance/activities-alone.ts'
import { scheduleCalls } from '../conformance/schedules.ts'
import type { InProcessService } from '../support/fixtures.ts'

const run = promisify(execFile)

/** What an operation is done to. */
export interface Subject {
  id: string
  catalog: string
  service: InProcessService
  schedule: ReturnType<typeof scheduleCalls>
  activity: ReturnType<typeof activityCalls>
  /** Runs the CLI with the words of a command, and further arguments. Returns what it prints as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: the CLI's output has many forms.
  temporal(command: string, ...args: string[]): Promise<any>
}

export type Act = (subject: Subject) => Promise<unknown>

export interface Operation {
  before?: Act
  http: Act
  cli: Act
  /** What is read on each side in the end, and what it is then. */
  seen: readonly [http: Act, cli: Act, expected: unknown]
}

const statusOf = (name: unknown) =>
  String(name)
    .replace(/^(WORKFLOW|ACTIVITY)_EXECUTION_STATUS_/, '')
    .toLowerCase()

/** Name, status and arguments of a run. */
export const runIs = (status: string): Operation['seen'] => [
  async ({ id, service }) => {
    const [{ body }, given] = await Promise.all([service.get(`${id}/status`), service.get(`${id}/input`)])
    return [body.workflowName, body.status, given.body.args]
  },
  async ({ id, temporal }) => {
    const { workflowExecutionInfo: info } = await temporal('workflow describe', '-w', id)
    const { events } = await temporal('workflow show', '-w', id)
    const { payloads } = events[0].workflowExecutionStartedEventAttributes.input
    const args = payloads.map(({ data }: { data: string }) => JSON.parse(Buffer.from(data, 'base64').toString()))
    return [info.type.name, statusOf(info.status), args]
  },
  ['messages', status, [{ a: 1 }]],
]

/** What the handlers of a run have gathered. */
export const stateIs = (name: 'gathered' | 'value', expected: unknown): Operation['seen'] => [
  async ({ id, service }) => (await service.post(`${id}/query/state`)).body[name],
  async ({ id, temporal }) => (await temporal('workflow query', '-w', id, '--name', 'state')).queryResult[0][name],
  expected,
]

export const runsAre = (...statuses: string[]): Operation['seen'] => [
  async ({ id, service }) => {
    const { body } = await service.get(`runs?query=${encodeURIComponent(`WorkflowId STARTS_WITH "${id}"`)}`)
    return body.runs.map(({ status }: { status: string }) => status).toSorted()
  },
  async ({ id, temporal }) => {
    const rows = await temporal('workflow list', '-q', `WorkflowId STARTS_WITH "${id}"`)
    return rows.map(({ status }: { status: string }) => statusOf(status)).toSorted()
  },
  statuses,
]

export const resultIs = (status: string, output: unknown): Operation['seen'] => [
  async ({ id, service }) => {
    const { body } = await service.get(`${id}/result?wait=10s`)
    return [body.status, body.output]
  },
  async ({ id, temporal }) => {
    const { closeEvent, result = null } = await temporal('workflow result', '-w', id)
    return [closeEvent.eventType.replace('EVENT_TYPE_WORKFLOW_EXECUTION_', '').toLowerCase(), result]
  },
  [status, output],
]

/** Of the step: its attempt, the greatest of attempts, and whether it is paused. */
export const stepIs = (
  ...expected: [attempt: number, maximumAttempts: number, isPaused: boolean]
): Operation['seen'] => [
  async ({ id, service }) => {
    const [reason] = (await service.get(`${id}/explain`)).body.reasons
    return [reason.attempt, reason.maximumAttempts, reason.state === 'paused']
  },
  async ({ id, temporal }) => {
    const [pending] = (await temporal('workflow describe', '-w', id)).pendingActivities
    const { attempt, activityOptions, paused = false } = pending
    return [attempt, activityOptions.retryPolicy.maximumAttempts, paused]
  },
  expected,
]

/** Hour, reason, and whether it is paused; null without the schedule. */
export const scheduleIs = (
  expected: readonly [hour: string, note: string, isPaused: boolean] | null,
): Operation['seen'] => [
  async ({ schedule }) => {
    const { status, body } = await schedule.get()
    return status === 404 ? null : [body.when.calendars[0].hour, body.note ?? '', body.paused]
  },
  async ({ id, temporal }) => {
    const described = await temporal('schedule describe', '-s', id).catch(() => null)
    if (described === null) return null
    const { spec, state = {} } = described.schedule
    return [String(spec.structuredCalendar[0].hour[0].start), state.notes ?? '', state.paused ?? false]
  },
  expected,
]

export const activityIs = (status: string, type = 'outside'): Operation['seen'] => [
  async ({ activity }) => {
    const { body } = await activity.get('status')
    return [body.activityName, body.status]
  },
  async ({ id, temporal }) => {
    const { info } = await temporal('activity describe', '-a', id)
    return [info.activityType.name, statusOf(info.status)]
  },
  [type, status],
]

export async function subjectOf(service: InProcessService, address: string, catalog: string): Promise<Subject> {
  const id = `beside-${crypto.randomUUID()}`
  const program = await ensureTemporal()
  return {
    ...{ id, catalog, service, activity: activityCalls(service, id), schedule: scheduleCalls(service, id) },
    async temporal(command, ...args) {
      const flags = ['--address', address, '-o', 'json']
      // `result` of a run that has failed exits with 1.
      const { stdout } = await run(program, [...command.split(' '), ...args, ...flags]).catch((error) => {
        if (error.stdout) return error
        throw error
      })
      return stdout === '' ? null : JSON.parse(stdout)
    },
  }
}
