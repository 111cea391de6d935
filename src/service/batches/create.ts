/** Creates batches: the service finds the runs, and the engine changes them. */
import { sha256 } from '../../shared/lib/digest.ts'
import { canonicalJson } from '../../shared/lib/json.ts'
import { newId } from '../../shared/lib/new-id.ts'
import { isReservedName } from '../../shared/wire/names.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import { batchOwner, type FoundBatch, MAX_BATCH_RUNS } from '../model/batch.ts'
import { atMost, type Call, withTimeout } from '../model/call.ts'
import type { CreateBatchCommand, CreatedBatch } from '../model/commands.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import { hasErrorName, invalidValue, ServiceError } from '../model/errors.ts'
import type { TypedRunFilter } from '../model/run-filter.ts'
import type { Ports } from '../ports.ts'

/** The runs are found once: later ones, and those that continue them, are not part of the batch. */
export async function createBatch(
  ports: Pick<Ports, 'engine' | 'searchAttributes'>,
  command: CreateBatchCommand,
  call: Call,
): Promise<CreatedBatch> {
  const { operation, filter, reason, signal, idempotencyKey } = command
  const key = idempotencyKey ?? newId()
  const batchId = (await batchOwner(call)) + (await sha256(`${key}\nbatch`)).slice(0, 32)
  const canonical = canonicalJson({ operation, filter, reason, signal })
  // With the key, so that its readers cannot guess arguments that a codec encrypts.
  const request = (await sha256(`${key}\n${canonical}`)).slice(0, 16)

  function answer({ matching, ...found }: Pick<FoundBatch, 'matching' | 'request'>, isRepeated: boolean): CreatedBatch {
    call.audit({ batchId, matching })
    call.note({ batchId, matching })
    if (found.request === request) return { batchId, operation, matching, ...(isRepeated && { isRepeated }) }
    const message = 'The Idempotency-Key was used for another batch before'
    throw new ServiceError('IdempotencyKeyReusedError', message, { details: { batchId } })
  }

  const known = idempotencyKey === undefined ? null : await ports.engine.describeBatch(batchId, call)
  if (known !== null) return answer(known, true)
  const long = withTimeout(call, TIMEOUT_MS.batch)
  const runs = await matchingRuns(ports, command, long)
  const matching = runs.length
  call.audit({ batchId, matching })
  if (matching === 0) return { batchId: null, operation, matching }
  const batch = { batchId, operation, reason: reason ?? `batch ${operation}`, runs, signal, request }
  const found = await ports.engine.startBatch(batch, atMost(long, TIMEOUT_MS.request))
  return answer(found ?? { matching, request }, found !== null && idempotencyKey !== undefined)
}

const PAGE_SIZE = 1000

/** The open runs that match, and that the caller may change: the engine's database may ignore case. */
async function matchingRuns(
  { engine, searchAttributes }: Pick<Ports, 'engine' | 'searchAttributes'>,
  { filter, visible, admits = () => true }: CreateBatchCommand,
  call: Call,
): Promise<RunRef[]> {
  const runs: RunRef[] = []
  let token: string | null = null
  try {
    const typed = await searchAttributes.resolve(
      { ...filter, open: true, ...(visible && { visible }) },
      atMost(call, TIMEOUT_MS.request),
    )
    do {
      const page: Awaited<ReturnType<typeof engine.listRuns>> = await engine.listRuns(
        typed,
        { size: PAGE_SIZE, token },
        atMost(call, TIMEOUT_MS.request),
      )
      const own = page.runs.filter((run) => !isReservedName(run.workflowId) && !isReservedName(run.workflowName))
      runs.push(...own.filter(admits).map(({ workflowId, runId }) => ({ workflowId, runId })))
      token = page.nextToken
      if (runs.length > MAX_BATCH_RUNS) throw await tooMany(engine, typed, call)
    } while (token !== null)
    return runs
  } catch (error) {
    throw inFilter(error)
  }
}

async function tooMany(engine: Ports['engine'], typed: TypedRunFilter, call: Call): Promise<ServiceError> {
  const { count } = await engine.countRuns(typed, false, atMost(call, TIMEOUT_MS.request))
  return invalidValue('', `matches ${count} open runs; a batch is for at most ${MAX_BATCH_RUNS}`)
}

/** The same error, with the paths in the body. */
function inFilter(error: unknown): unknown {
  if (!hasErrorName(error, 'ValidationError') || error.details.issues === undefined) return error
  const issues = error.details.issues.map(({ path, message }) => ({ path: `/filter${path}`, message }))
  const message = issues.map(({ path, message }) => `${path} ${message}`).join('; ')
  return new ServiceError('ValidationError', message, { cause: error, details: { issues } })
}
