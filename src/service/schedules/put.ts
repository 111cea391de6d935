/** Creates or replaces a schedule. */
import { sha256 } from '../../shared/lib/digest.ts'
import { canonicalJson, toPointer } from '../../shared/lib/json.ts'
import type { ScheduleMark } from '../../shared/wire/schedule-mark.ts'
import { REDACTED } from '../../shared/wire/secret-names.ts'
import type { Call } from '../model/call.ts'
import type { PutScheduleCommand } from '../model/commands.ts'
import type { EngineSchedule } from '../model/engine.ts'
import { hasErrorName, invalidValue, ServiceError } from '../model/errors.ts'
import type { DescribedSchedule, OnSchedule, Precondition, Schedule } from '../model/schedule.ts'
import type { Ports } from '../ports.ts'
import { type AdmitStartPorts, admitStart } from '../start/admit-start.ts'
import { requireSchedules, shown } from './schedules.ts'

type PutPorts = AdmitStartPorts & Pick<Ports, 'engine' | 'engineSupport'>

export interface PutSchedule {
  schedule: Schedule
  /** Whether the schedule did not exist. */
  isNew: boolean
}

// Another client may create or delete the schedule between two of our calls.
const ATTEMPTS = 3

/**
 * The engine can drop a stale update without an error. Therefore the version is compared before, and the mark of the
 * document is read afterwards.
 */
export async function putSchedule(ports: PutPorts, command: PutScheduleCommand, call: Call): Promise<PutSchedule> {
  requireSecrets(command)
  await requireSchedules(ports, call)
  const { request } = await admitStart(ports, command.start, call)
  const schedule = { ...command.document, scheduleId: command.scheduleId, start: request }
  const change = await changeOf(ports, command)
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const done = await tryToPut(ports, { ...schedule, change: change ?? crypto.randomUUID() }, command, call)
    if (done !== null) return { schedule: await shown(ports, await done.found.read(), call), isNew: done.isNew }
  }
  throw failed(command, 'other clients change it again and again')
}

/** Readers see `[redacted]` instead of a secret: who sends it back would lose the secret. */
function requireSecrets({ start: { options = {} } }: PutScheduleCommand): void {
  const { memo, headers, searchAttributes = {}, summary, details } = options
  const attributes = Object.fromEntries(Object.entries(searchAttributes).map(([name, { value }]) => [name, value]))
  const path = pathOfRedacted({ memo, headers, searchAttributes: attributes, summary, details })
  if (path !== null) throw invalidValue(toPointer(path), `is ${REDACTED}, which stands for a secret: send the secret`)
}

function pathOfRedacted(value: unknown): string[] | null {
  if (value === REDACTED) return []
  if (typeof value !== 'object' || value === null) return null
  for (const [key, member] of Object.entries(value)) {
    const path = pathOfRedacted(member)
    if (path !== null) return [key, ...path]
  }
  return null
}

interface MarkedSchedule extends EngineSchedule {
  change: string
}

function toMark({ change, set }: MarkedSchedule, replaced?: ScheduleMark | null): ScheduleMark {
  return { change, ...(replaced && { replaces: replaced.change }), ...(set && { set }) }
}

interface Done {
  found: DescribedSchedule
  isNew: boolean
}

/** Null if another client has come first, and that alone is no reason to fail. */
async function tryToPut(
  { engine }: Pick<Ports, 'engine'>,
  schedule: MarkedSchedule,
  command: PutScheduleCommand,
  call: Call,
): Promise<Done | null> {
  const { ifMatch, ifNoneMatch } = command.precondition
  const created = ifMatch === undefined ? await create(engine, schedule, ifNoneMatch !== undefined, call) : 'exists'
  return created === 'exists' ? replace(engine, schedule, command, call) : created
}

async function create(
  engine: Ports['engine'],
  schedule: MarkedSchedule,
  mustBeNew: boolean,
  call: Call,
): Promise<Done | null | 'exists'> {
  const mark = toMark(schedule)
  const isNew = await engine.createSchedule(schedule, mark, call)
  if (!isNew && !mustBeNew) return 'exists'
  const found = await describeOrNull(engine, schedule, call)
  // Without an error, an attempt whose response was lost may have created it.
  if (found !== null && !isNew && found.mark?.change !== mark.change) throw failed(schedule, 'it exists')
  return found && { found, isNew: true }
}

async function replace(
  engine: Ports['engine'],
  schedule: MarkedSchedule,
  command: PutScheduleCommand,
  call: Call,
): Promise<Done | null> {
  const { precondition, admitReplaced } = command
  const isPinned = Array.isArray(precondition.ifMatch)
  const isConditional = precondition.ifMatch !== undefined || admitReplaced !== undefined
  if (!isConditional) return update(engine, schedule, null, call)
  const current = await readReplaced(engine, command, call)
  if (current === null) return null
  if (isPinned && current.mark?.change === schedule.change) return { found: current, isNew: false }
  requireVersion(schedule, precondition, current)
  // With `*` any version may be replaced, unless another one may be that of a workflow that is not the caller's.
  const done = await update(engine, schedule, current, call, isPinned || admitReplaced !== undefined)
  if (done === null && isPinned) throw failed(schedule, 'another client has changed it')
  return done
}

/** Null if the engine has not replaced it. */
async function update(
  engine: Ports['engine'],
  schedule: MarkedSchedule,
  current: DescribedSchedule | null,
  call: Call,
  onlyThis = false,
): Promise<Done | null> {
  const mark = toMark(schedule, current?.mark)
  const version = onlyThis && current !== null ? current.version : null
  const isSent = await engine.updateSchedule(schedule, mark, version, call)
  const found = isSent ? await describeOrNull(engine, schedule, call) : null
  // A document that was written after ours, by a client that has read ours, names it.
  const isOurs = found?.mark?.change === mark.change || found?.mark?.replaces === mark.change
  return found !== null && (version === null || isOurs) ? { found, isNew: false } : null
}

/** The schedule to replace. Null if it does not exist and need not; throws if it must not be replaced. */
async function readReplaced(
  engine: Ports['engine'],
  { scheduleId, precondition: { ifMatch }, admitReplaced }: PutScheduleCommand,
  call: Call,
): Promise<DescribedSchedule | null> {
  const current = await describeOrNull(engine, { scheduleId }, call)
  if (current === null) {
    if (ifMatch !== undefined) throw failed({ scheduleId }, 'it does not exist')
    return null
  }
  admitReplaced?.(current.workflowName)
  return current
}

/** Not left to the engine: its first generation applies an update whose version it cannot read. */
function requireVersion({ scheduleId }: OnSchedule, { ifMatch }: Precondition, current: DescribedSchedule): void {
  if (ifMatch === undefined || ifMatch === '*' || ifMatch.includes(current.version)) return
  throw failed({ scheduleId }, `its version is ${current.version}`)
}

/**
 * With `If-Match`, the same request has the same mark: after a lost response it can be repeated, although its first
 * attempt has changed the version. Null: each attempt has its own, also with a codec, whose arguments a reader of the
 * mark could guess.
 */
async function changeOf(
  { deployment }: Pick<Ports, 'deployment'>,
  { precondition: { ifMatch }, document, start }: PutScheduleCommand,
): Promise<string | null> {
  if (deployment.features.codec || ifMatch === undefined || ifMatch === '*') return null
  const { objectionTo: _, ...content } = start
  return (await sha256(`schedule\n${canonicalJson([document, content, ifMatch])}`)).slice(0, 32)
}

async function describeOrNull(
  engine: Ports['engine'],
  { scheduleId }: OnSchedule,
  call: Call,
): Promise<DescribedSchedule | null> {
  try {
    return await engine.describeSchedule(scheduleId, call)
  } catch (error) {
    if (hasErrorName(error, 'ScheduleNotFoundError')) return null
    throw error
  }
}

function failed({ scheduleId }: OnSchedule, why: string): ServiceError {
  const message = `Schedule ${scheduleId} was not changed: ${why}`
  return new ServiceError('PreconditionFailedError', message, { details: { scheduleId } })
}
