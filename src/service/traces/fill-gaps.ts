/**
 * Fills the gaps of a trace that was read from the history: adds the values, attributes and nodes that only the trace
 * tree of a worker of the older generation has.
 */
import type { TraceEntry } from '../../shared/wire/trace/entry.ts'

export interface FilledTrace {
  entries: TraceEntry[]
  /** How many nodes of the older tree contradict the history. They are left out, with everything below them. */
  rejected: number
}

/**
 * Adds entries of older trees to `known`, without replacing anything: times, errors, attempts, and whether something
 * has ended come from the history. In `older`, parents must come before their children.
 *
 * Workers of the older generation confuse the steps of a workflow and of its child workflows, which have the same
 * activity ids. A step with another name than in the history is therefore a step of another run.
 */
export function fillGaps(known: readonly TraceEntry[], older: readonly TraceEntry[]): FilledTrace {
  const nodes = Map.groupBy(known, ({ id }) => id)
  const steps = [...nodes.values()].flatMap(([first]) => (first?.kind === 'step' ? [first] : []))
  /** For each id in `older`: the id of the node that its last entry describes; null if the entry was rejected. */
  const meant = new Map<string, string | null>()
  const kinds = new Map<string, string>()
  let rejected = 0

  function add(entry: TraceEntry): TraceEntry[] {
    const parentId = entry.parentId === null ? null : meant.get(entry.parentId)
    const id = entry.parentId !== null && parentId === null ? null : nodeOf(entry, nodes, steps)
    meant.set(entry.id, id)
    if (id === null) {
      if (entry.phase === 'began') rejected++
      return []
    }
    const node = nodes.get(id)
    if (node === undefined) return [{ ...entry, parentId: parentId ?? entry.parentId }]
    // The history does not distinguish the kinds of steps.
    if (node[0]?.kind === 'step') kinds.set(id, entry.kind)
    return gapsOf(node, entry)
  }

  const added = older.flatMap(add)
  const entries = [...known, ...added].map((entry) => ({ ...entry, kind: kinds.get(entry.id) ?? entry.kind }))
  return { entries, rejected }
}

/** The id of the node that the entry describes; null if the history contradicts the entry. */
function nodeOf(
  { id, name }: TraceEntry,
  nodes: ReadonlyMap<string, readonly TraceEntry[]>,
  steps: readonly TraceEntry[],
): string | null {
  const [first] = nodes.get(id) ?? []
  if (first?.kind !== 'step' || first.name === name) return id
  const suffix = id.slice(first.parentId?.length)
  const namesakes = steps.filter((step) => step.name === name && step.id === `${step.parentId}${suffix}`)
  return namesakes.length === 1 && namesakes[0] ? namesakes[0].id : null
}

/** What the entry adds to a node, as entries with the node's own times. */
function gapsOf(node: readonly TraceEntry[], { input, output, attributes = {} }: TraceEntry): TraceEntry[] {
  const began = node.find(({ phase }) => phase === 'began') ?? node[0]
  const ended = node.find(({ phase }) => phase === 'ended')
  const names = new Set(node.flatMap((entry) => Object.keys(entry.attributes ?? {})))
  const more = Object.fromEntries(Object.entries(attributes).filter(([key]) => !names.has(key)))
  // Null means a missing value only if the value is stored elsewhere; otherwise null is the value.
  const isElsewhere = node.some((entry) => entry.attributes?.storedElsewhere === true)
  const lacks = (key: 'input' | 'output') => isElsewhere && node.every((entry) => entry[key] == null)
  const gaps: TraceEntry[] = []
  if (began) gaps.push({ ...bare(began), attributes: more, ...(lacks('input') && { input }) })
  if (ended && ended.error === undefined && lacks('output')) gaps.push({ ...bare(ended), output })
  return gaps
}

function bare({ id, parentId, kind, name, at, phase }: TraceEntry): TraceEntry {
  return { id, parentId, kind, name, at, phase }
}
