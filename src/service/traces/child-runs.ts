import { mapConcurrent } from '../../shared/lib/map-concurrent.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import type { TraceEntry } from '../../shared/wire/trace/entry.ts'
import { type Catalogs, readTraceMeta } from '../catalog/catalogs.ts'
import { type Call, withTimeout } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import type { TracedRun } from '../model/trace-source.ts'
import type { Ports } from '../ports.ts'
import { readRun } from './read-run.ts'
import { truncatedEntry } from './truncated-entry.ts'

const CONCURRENT_RUNS = 8
const MAX_CHILD_RUNS = 200

export interface RunEntries {
  entries: TraceEntry[]
  /** Entries of older trees, which only add what `entries` lack. */
  older: TraceEntry[]
}

/** The entries of a run and of its child runs, level by level, until the limit of runs, bytes or time is reached. */
export async function addChildRuns(
  ports: Pick<Ports, 'catalogs' | 'traceMaxBytes' | 'traceSources'>,
  root: RunEntries & { catalog: string },
  call: Call,
  warnings: Set<string>,
): Promise<RunEntries> {
  const entries = [...root.entries]
  const older = [...root.older]
  let bytesLeft = ports.traceMaxBytes - sizeOf(entries) - sizeOf(older)
  let runs = 1
  let skipped = 0
  const childrenCall = withTimeout(call, TIMEOUT_MS.traceChildren)
  const isAtLimit = () => runs++ >= MAX_CHILD_RUNS || bytesLeft < 0 || Date.now() >= childrenCall.deadlineAt
  const seen = new Set<string>()
  for (let level = childrenOf(root.entries, root.catalog, seen); level.length > 0; ) {
    const next: Child[] = []
    await mapConcurrent(level, CONCURRENT_RUNS, async (child) => {
      if (isAtLimit()) {
        skipped++
        entries.push(truncatedEntry(child.entry))
        return
      }
      const { run, catalog } = child
      const read = await readRun(ports, { run: toTracedRun(child, ports.catalogs), catalog }, childrenCall, warnings)
      if (read.source === null) entries.push(truncatedEntry(child.entry))
      // Attaches the root node of the child run to the node of that run in the parent's trace.
      const own = read.entries.map((entry) => (entry.id === run.runId ? { ...entry, parentId: child.entry.id } : entry))
      bytesLeft -= sizeOf(own) + sizeOf(read.older)
      entries.push(...own)
      older.push(...read.older)
      next.push(...childrenOf(own, catalog, seen))
    })
    level = next
  }
  if (skipped > 0) warnings.add(skippedWarning(skipped))
  return { entries, older }
}

interface Child {
  run: RunRef
  catalog: string
  /** The first entry of its node in the parent's trace. */
  entry: TraceEntry
  isOpen: boolean
}

/** The child runs that the entries name, without those in `seen`, to which they are added. */
function childrenOf(entries: readonly TraceEntry[], catalog: string, seen: Set<string>): Child[] {
  const nodes = Map.groupBy(
    entries.filter(({ kind }) => kind === 'child_workflow'),
    ({ id }) => id,
  )
  return [...nodes.values()].flatMap((own): Child[] => {
    const child = toChild(own, catalog)
    if (child === null || seen.has(child.run.runId)) return []
    seen.add(child.run.runId)
    return [child]
  })
}

/** Null when the entries of the node do not name a run: it was never started. */
function toChild(node: readonly TraceEntry[], parentCatalog: string): Child | null {
  const attributes: Record<string, unknown> = Object.assign({}, ...node.map((entry) => entry.attributes))
  const { workflowId, runId, catalog = parentCatalog } = attributes
  const [entry] = node
  if (typeof workflowId !== 'string' || typeof runId !== 'string' || typeof catalog !== 'string') return null
  if (entry === undefined) return null
  return { run: { workflowId, runId }, catalog, entry, isOpen: node.every(({ phase }) => phase !== 'ended') }
}

function toTracedRun({ run, catalog, isOpen }: Child, catalogs: Catalogs): TracedRun {
  const described = { ...run, catalog, memo: new Map() }
  return {
    ...run,
    isOpen,
    startedAt: null,
    completedAt: null,
    destinations: async (call) => (await readTraceMeta(described, catalogs, call))?.destinations ?? {},
  }
}

function skippedWarning(count: number): string {
  const runs = count === 1 ? 'child run was' : 'child runs were'
  return `${count} ${runs} not read: nodes with attributes.truncated are incomplete`
}

function sizeOf(entries: readonly TraceEntry[]): number {
  return entries.reduce((sum, entry) => sum + JSON.stringify(entry).length, 0)
}
