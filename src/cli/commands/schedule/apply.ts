/** `portico schedule apply`: makes the schedules of a set those of a folder. A file's name is the schedule id. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PorticoError } from '../../../client/portico-error.ts'
import type { Schedule, ScheduleDocument, Schedules } from '../../../client/requests/schedules.ts'
import { sha256 } from '../../../shared/lib/digest.ts'
import { errorCode } from '../../../shared/lib/error-code.ts'
import { canonicalJson } from '../../../shared/lib/json.ts'
import { type CommonFlags, callService, READ_TIMEOUT_MS } from '../../command.ts'
import { EXIT } from '../../exit-code.ts'
import { UsageError } from '../../failures.ts'
import { readObjectArgument } from '../../flags/json-argument.ts'
import { cellOf, rowsOf } from '../../output/table.ts'
import { printDocument, printLines } from '../../output/terminal.ts'

interface ApplyFlags extends CommonFlags {
  set: string
  prune?: boolean
  dryRun?: boolean
}

type Action = 'create' | 'change' | 'keep' | 'delete'

interface Applied {
  scheduleId: string
  action: Action
  error?: string
}

interface ScheduleFile {
  scheduleId: string
  document: Record<string, unknown>
  /** Decides whether a schedule has changed: the engine rewrites cron lines, so documents cannot be compared. */
  digest: string
}

interface Apply {
  schedules: Schedules
  set: string
  isDryRun: boolean
  signal: AbortSignal
}

export async function applySchedules(folder: string, flags: ApplyFlags): Promise<void> {
  await callService(flags, async ({ client: { schedules }, signal, isJson, wait }) => {
    const { set, prune = false, dryRun: isDryRun = false } = flags
    // Nothing is sent if one of the files is not JSON.
    const files = await readFolder(folder, signal)
    const apply = { schedules, set, isDryRun, signal }
    const done = wait(`the schedules of ${folder}`)
    const applied: Applied[] = []
    try {
      for (const file of files) applied.push(await applyOne(apply, file))
      const isWhole = applied.every(({ error }) => error === undefined)
      if (prune && isWhole) applied.push(...(await pruneOthers(apply, files)))
    } finally {
      done()
    }
    if (isJson) printDocument(JSON.stringify({ set, dryRun: isDryRun, schedules: applied }))
    else printLines(render(applied, isDryRun))
    return applied.some(({ error }) => error !== undefined) ? EXIT.failed : EXIT.completed
  })
}

const EXTENSION = '.json'

async function readFolder(folder: string, signal: AbortSignal): Promise<ScheduleFile[]> {
  const names = await readdir(folder).catch((error) => {
    throw new UsageError(`The folder ${folder} cannot be read (${errorCode(error)})`)
  })
  const files = names.filter((name) => name.endsWith(EXTENSION)).toSorted()
  if (files.length === 0) throw new UsageError(`The folder ${folder} has no files that end in ${EXTENSION}`)
  return Promise.all(
    files.map(async (name) => {
      const path = join(folder, name)
      const document = await readObjectArgument(path, `@${path}`, signal)
      return { scheduleId: name.slice(0, -EXTENSION.length), document, digest: await sha256(canonicalJson(document)) }
    }),
  )
}

async function applyOne(apply: Apply, file: ScheduleFile): Promise<Applied> {
  const { scheduleId, digest, document } = file
  const { set, isDryRun, schedules, signal } = apply
  const options = { signal, timeoutMs: READ_TIMEOUT_MS }
  const current = await readOrNull(apply, scheduleId)
  const action = actionFor(apply, file, current)
  if (current !== null && current.set !== null && current.set.name !== set)
    return { scheduleId, action, error: `belongs to the set ${current.set.name}` }
  if (action === 'keep' || isDryRun) return { scheduleId, action }
  // Each is replaced only if it has not changed since it was read.
  const ifMatch = current === null ? null : current.version
  const body = { ...pauseOf(current), ...document, set: { name: set, digest } }
  try {
    // The service checks it.
    await schedules.put(scheduleId, body as unknown as ScheduleDocument, { ifMatch, ...options })
    return { scheduleId, action }
  } catch (error) {
    return failedOne({ scheduleId, action }, error)
  }
}

/** A schedule that somebody has paused stays so, unless the file says otherwise. */
function pauseOf(current: Schedule | null): { paused?: boolean; note?: string } {
  if (!current?.paused) return {}
  return { paused: true, ...(current.note !== null && { note: current.note }) }
}

function actionFor({ set }: Apply, { digest }: ScheduleFile, current: Schedule | null): Action {
  if (current === null) return 'create'
  return current.set?.name === set && current.set.digest === digest ? 'keep' : 'change'
}

/** Only those of the set: the list does not say which these are, so each is read. */
async function pruneOthers(apply: Apply, files: readonly ScheduleFile[]): Promise<Applied[]> {
  const { schedules, set, isDryRun, signal } = apply
  const kept = new Set(files.map(({ scheduleId }) => scheduleId))
  const pruned: Applied[] = []
  for await (const { scheduleId } of schedules.list({ pageSize: 1000, signal })) {
    if (kept.has(scheduleId) || (await readOrNull(apply, scheduleId))?.set?.name !== set) continue
    const one: Applied = { scheduleId, action: 'delete' }
    try {
      if (!isDryRun) await schedules.delete(scheduleId, { signal, timeoutMs: READ_TIMEOUT_MS })
      pruned.push(one)
    } catch (error) {
      pruned.push(failedOne(one, error))
    }
  }
  return pruned
}

async function readOrNull({ schedules, signal }: Apply, scheduleId: string): Promise<Schedule | null> {
  try {
    return await schedules.get(scheduleId, { signal, timeoutMs: READ_TIMEOUT_MS })
  } catch (error) {
    if (error instanceof PorticoError && error.error === 'ScheduleNotFoundError') return null
    throw error
  }
}

const OWN_ERRORS: ReadonlySet<string> = new Set([
  'ForbiddenError',
  'PayloadTooLargeError',
  'PreconditionFailedError',
  'ScheduleNotFoundError',
  'UnsupportedWorkflowError',
  'ValidationError',
])

/** What concerns this schedule alone does not stop the others. */
function failedOne(one: Applied, error: unknown): Applied {
  if (error instanceof PorticoError && OWN_ERRORS.has(error.error))
    return { ...one, error: `${error.message} (${error.error})` }
  throw error
}

const DONE = { create: 'created', change: 'changed', keep: 'unchanged', delete: 'deleted' } as const

function render(applied: readonly Applied[], isDryRun: boolean): string {
  const rows = applied.map(({ scheduleId, action, error }) => {
    const did = isDryRun && action !== 'keep' ? `would ${action}` : DONE[action]
    return [error === undefined ? did : 'failed', cellOf(scheduleId), ...(error === undefined ? [] : [cellOf(error)])]
  })
  return rowsOf(rows)
}
