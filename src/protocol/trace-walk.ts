/** The whole story of a run: its chain (continue-as-new, engine retries, resets) and its children, each told by its own history. */
import type { RunRef } from './run-ref.ts'
import type { TraceEntry } from './trace-entry.ts'

export interface WalkOptions {
  /** The entries of one run's history, oldest first. */
  read(run: RunRef): AsyncIterable<TraceEntry>
  /** First run of the chain. */
  firstRunId: string
  /** Runs that are read at most. */
  maxRuns: number
  /** JSON text of the entries together, roughly, at most. */
  maxBytes: number
}

export interface Walked {
  /** What was left out has a node with `attributes.truncated`. */
  entries: TraceEntry[]
  /** What kept other runs than the first from being read, or that one from being read to its end. */
  faults: unknown[]
}

interface Visit {
  run: RunRef
  /** Of the run's node; null where it is the root or below the chain's. */
  parentId: string | null
  /** What is marked when the run can't be read. */
  mark: TraceEntry | null
}

// Histories are many small answers: one after the other most of the time is waiting.
const READ_AT_ONCE = 8

/** Reads the run first, then what it names, breadth first. Rejects when there is nothing of the run itself to be read. */
export async function walkRuns(start: RunRef, { read, firstRunId, maxRuns, maxBytes }: WalkOptions): Promise<Walked> {
  const chainId = `${firstRunId}:chain`
  const seen = new Set([start.runId])
  const faults: unknown[] = []
  const entries: TraceEntry[] = []
  const links: TraceEntry[] = []
  let left = maxBytes

  /** What the run and its relations are read from; null when nothing of it can be read. */
  async function entriesOf({ run }: Visit): Promise<TraceEntry[] | null> {
    const found: TraceEntry[] = []
    try {
      for await (const entry of read(run)) {
        left -= JSON.stringify(entry).length
        found.push(entry)
        if (left < 0) return [...found, ...truncated(found[0])]
      }
      return found
    } catch (error) {
      faults.push(error)
      return found.length === 0 ? null : [...found, ...truncated(found[0])]
    }
  }

  let queue: Visit[] = [{ run: start, parentId: null, mark: null }]
  for (let runs = 0; queue.length > 0; ) {
    const batch = left < 0 ? [] : queue.slice(0, Math.min(READ_AT_ONCE, maxRuns - runs))
    if (batch.length === 0) break
    queue = queue.slice(batch.length)
    runs += batch.length
    const found = await Promise.all(batch.map(entriesOf))
    for (const [index, visit] of batch.entries()) {
      const own = found[index]
      if (!own) {
        if (visit.run === start) throw faults[0]
        entries.push(...truncated(visit.mark ?? undefined))
        continue
      }
      const isLink = visit.parentId === null
      for (const entry of own) {
        const isRun = entry.id === visit.run.runId
        if (isRun && isLink) links.push(entry)
        else entries.push(isRun ? { ...entry, parentId: visit.parentId } : entry)
      }
      for (const next of relations(visit, own)) {
        if (seen.has(next.run.runId)) continue
        seen.add(next.run.runId)
        queue.push(next)
      }
    }
  }
  for (const { mark } of queue) entries.push(...truncated(mark ?? links[0]))
  return { entries: [...chained(links, chainId), ...entries], faults }
}

/** The runs that these entries name: what came before and after, and the children. */
function relations({ run, parentId }: Visit, entries: readonly TraceEntry[]): Visit[] {
  return entries.flatMap((entry): Visit[] => {
    const { previousRunId, nextRunId, workflowId, runId } = entry.attributes ?? {}
    if (entry.id === run.runId) {
      // A child's chain begins where its parent's story names it; what came before a root is told below the same root.
      const others = parentId === null ? [previousRunId, nextRunId] : [nextRunId]
      const mark = entry
      return others.filter(isText).map((other) => ({ run: { workflowId: run.workflowId, runId: other }, parentId, mark }))
    }
    if (entry.kind !== 'child_workflow' || !isText(runId)) return []
    const began = entries.find(({ id, phase }) => id === entry.id && phase === 'began')
    const childId = workflowId ?? began?.attributes?.workflowId
    return isText(childId) ? [{ run: { workflowId: childId, runId }, parentId: entry.id, mark: entry }] : []
  })
}

/** Runs of a chain stand side by side under a root that has been there from the first to the last; a single run is the root itself. */
function chained(links: readonly TraceEntry[], chainId: string): TraceEntry[] {
  const isChain = links.some(({ attributes }) => isText(attributes?.previousRunId) || isText(attributes?.nextRunId))
  if (!isChain) return [...links]
  const ended = new Set(links.filter(({ phase }) => phase === 'ended').map(({ id }) => id))
  // Whoever has a successor has ended, though its end was perhaps not read; and a run that was reset had perhaps ended by itself, and it goes on.
  const followed = new Set(links.map(({ attributes }) => attributes?.previousRunId))
  const isOpen = links.some(({ id }) => !ended.has(id) && !followed.has(id))
  const root = links.flatMap((link): TraceEntry[] => {
    const { workflowId, status, nextRunId } = link.attributes ?? {}
    const node = { ...link, id: chainId, parentId: null }
    if (link.phase === 'began') return [{ ...node, attributes: { workflowId } }]
    return isOpen || isText(nextRunId) || followed.has(link.id) ? [] : [{ ...node, attributes: { status } }]
  })
  return [...root, ...links.map((link) => ({ ...link, parentId: chainId }))]
}

/** Says that the node of this entry lacks something. */
export function truncated(entry: TraceEntry | undefined): TraceEntry[] {
  if (entry === undefined) return []
  const { id, parentId, kind, name, at } = entry
  return [{ id, parentId, kind, name, at, phase: 'began', attributes: { truncated: true } }]
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
