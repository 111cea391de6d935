/** Reads, changes and lists schedules. */
import { REDACTED, redactSecrets } from '../../shared/wire/secret-names.ts'
import { readPublished } from '../catalog/catalogs.ts'
import type { Call } from '../model/call.ts'
import { invalidValue, ServiceError } from '../model/errors.ts'
import { enginePage } from '../model/page-token.ts'
import {
  type BackfillScheduleCommand,
  type ListSchedulesCommand,
  MAX_SCHEDULE_TIMES,
  type OnSchedule,
  type PauseScheduleCommand,
  type Schedule,
  type SchedulePage,
  type ScheduleTimesCommand,
  type TriggerScheduleCommand,
} from '../model/schedule.ts'
import type { Ports } from '../ports.ts'

export type SchedulePorts = Pick<Ports, 'engine' | 'engineSupport'>

/** Rejects with `NotSupportedError` if the engine has no schedules in the namespace. */
export async function requireSchedules({ engineSupport }: Pick<Ports, 'engineSupport'>, call: Call): Promise<void> {
  if (await engineSupport.schedules(call)) return
  const message = 'The workflow engine has no schedules in this namespace (GET /capabilities: schedules)'
  throw new ServiceError('NotSupportedError', message)
}

export async function readSchedule(
  ports: SchedulePorts & Pick<Ports, 'catalogs'>,
  { scheduleId }: OnSchedule,
  call: Call,
): Promise<Schedule> {
  await requireSchedules(ports, call)
  return shown(ports, await (await ports.engine.describeSchedule(scheduleId, call)).read(), call)
}

/**
 * Without secrets, as in the status of a run. If the workers redact, only they know which values are secret. The
 * arguments are shown: whoever may read a run sees its input, too.
 */
export async function shown(ports: Pick<Ports, 'catalogs'>, schedule: Schedule, call: Call): Promise<Schedule> {
  const { memo, options } = schedule
  const { searchAttributes = {}, headers, summary, details } = options
  const values = { ...memo, ...searchAttributes, ...headers, ...(summary && { summary }), ...(details && { details }) }
  if (Object.keys(values).length === 0) return schedule
  const { redacted } = await readPublished(ports, schedule, call)
  const mask = <T>(values: T): T =>
    redacted ? (Object.fromEntries(Object.keys(values ?? {}).map((name) => [name, REDACTED])) as T) : redactedIn(values)
  const attributes = mask(
    Object.fromEntries(Object.entries(searchAttributes).map(([name, { value }]) => [name, value])),
  )
  return {
    ...schedule,
    memo: mask(memo),
    options: {
      ...options,
      ...(headers && { headers: mask(headers) }),
      ...(options.searchAttributes && {
        searchAttributes: Object.fromEntries(
          Object.entries(searchAttributes).map(([name, { type }]) => [name, { type, value: attributes[name] }]),
        ),
      }),
      ...(redacted && summary !== undefined && { summary: REDACTED }),
      ...(redacted && details !== undefined && { details: REDACTED }),
    },
  }
}

function redactedIn<T>(values: T): T {
  return redactSecrets(values) as T
}

export async function deleteSchedule(ports: SchedulePorts, { scheduleId }: OnSchedule, call: Call) {
  await requireSchedules(ports, call)
  await ports.engine.deleteSchedule(scheduleId, call)
  return { scheduleId, deleted: true }
}

export function pauseSchedule(ports: SchedulePorts, command: PauseScheduleCommand, call: Call) {
  return setPaused(ports, command, true, call)
}

export function unpauseSchedule(ports: SchedulePorts, command: PauseScheduleCommand, call: Call) {
  return setPaused(ports, command, false, call)
}

async function setPaused(
  ports: SchedulePorts,
  { scheduleId, reason }: PauseScheduleCommand,
  paused: boolean,
  call: Call,
): Promise<{ scheduleId: string; paused: boolean }> {
  await requireSchedules(ports, call)
  await ports.engine.changeSchedule(scheduleId, paused ? { kind: 'pause', reason } : { kind: 'unpause', reason }, call)
  return { scheduleId, paused }
}

/** The engine does not recognize a repeated request. */
export async function triggerSchedule(
  ports: SchedulePorts,
  { scheduleId, overlap }: TriggerScheduleCommand,
  call: Call,
) {
  await requireSchedules(ports, call)
  await ports.engine.changeSchedule(scheduleId, { kind: 'trigger', overlap }, call)
  return { scheduleId, accepted: true }
}

export async function backfillSchedule(
  ports: SchedulePorts,
  { scheduleId, ...times }: BackfillScheduleCommand,
  call: Call,
) {
  requireOrder(times)
  await requireSchedules(ports, call)
  await ports.engine.changeSchedule(scheduleId, { kind: 'backfill', ...times }, call)
  return { scheduleId, accepted: true }
}

export async function scheduleTimes(ports: SchedulePorts, command: ScheduleTimesCommand, call: Call) {
  requireOrder(command)
  await requireSchedules(ports, call)
  const times = await ports.engine.scheduleTimes(command, call)
  return { times, complete: times.length < MAX_SCHEDULE_TIMES }
}

/** The engine accepts both, and does nothing. */
function requireOrder({ from, until }: { from: string; until: string }): void {
  if (Date.parse(until) < Date.parse(from)) throw invalidValue('/until', 'must not be before from')
}

export async function listSchedules(
  ports: SchedulePorts & Pick<Ports, 'catalogs'>,
  { filter, ...page }: ListSchedulesCommand,
  call: Call,
): Promise<SchedulePage> {
  return enginePage({ namespace: ports.catalogs.namespace, schedules: filter }, page, async (from) => {
    await requireSchedules(ports, call)
    return ports.engine.listSchedules(filter, from, call)
  })
}
