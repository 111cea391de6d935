/** The trace of a run as rows of a timeline. */
import type { TraceNode } from '../wire/trace/tree.ts'

export interface Row {
  node: TraceNode
  depth: number
  hasChildren: boolean
  isExpanded: boolean
  /** 1 to `siblings`. */
  position: number
  siblings: number
  /** What its workflow says about it, or what distinguishes it from siblings with the same name; else empty. */
  detail: string
}

/** The visible nodes, from top to bottom. */
export function toRows(root: TraceNode, collapsed: ReadonlySet<string>): Row[] {
  const rows: Row[] = []
  const waiting: Omit<Row, 'hasChildren' | 'isExpanded'>[] = [
    { node: root, depth: 0, position: 1, siblings: 1, detail: '' },
  ]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const children = childrenOf(next.node)
    const isExpanded = children.length > 0 && !collapsed.has(next.node.id)
    rows.push({ ...next, hasChildren: children.length > 0, isExpanded })
    if (isExpanded) waiting.push(...toSiblings(children, next.depth + 1).reverse())
  }
  return rows
}

function toSiblings(children: readonly TraceNode[], depth: number): Omit<Row, 'hasChildren' | 'isExpanded'>[] {
  const names = new Map<string, number>()
  for (const { name } of children) names.set(name, (names.get(name) ?? 0) + 1)
  return children.map((node, at) => {
    const { kind, name, input, attributes } = node
    const isOneOfMany = kind === 'step' && (names.get(name) ?? 0) > 1
    const detail = attributes.summary == null ? (isOneOfMany ? previewOf(input) : '') : previewOf(attributes.summary)
    return { node, depth, position: at + 1, siblings: children.length, detail }
  })
}

const MAX_PREVIEW = 40

/** The first simple value of an input. */
function previewOf(input: unknown): string {
  if (JSON.isRawJSON(input)) return JSON.stringify(input)
  if (typeof input !== 'object' || input === null) return input === null ? '' : String(input).slice(0, MAX_PREVIEW)
  const found = Object.entries(input).find(([, value]) => typeof value === 'string' || typeof value === 'number')
  return found === undefined ? '' : `${Array.isArray(input) ? '' : `${found[0]} `}${found[1]}`.slice(0, MAX_PREVIEW)
}

/** The run of a child workflow is no row of its own, and neither are messages of SDKs, such as readers of streams. */
export function childrenOf(node: TraceNode): TraceNode[] {
  const [only, ...more] = node.children
  const isChildRun = node.kind === 'child_workflow' && only?.kind === 'workflow' && more.length === 0
  return (isChildRun ? only.children : node.children).filter((child) => !isInternal(child))
}

function isInternal({ kind, name }: TraceNode): boolean {
  return (kind === 'signal' || kind === 'update') && name.startsWith('__')
}

export type NodeState = 'open' | 'completed' | 'failed' | 'canceled' | 'retrying'

export function stateOf({ error, endedAt, attributes }: TraceNode): NodeState {
  if (error !== null) return error.name === 'CanceledFailure' ? 'canceled' : 'failed'
  if (attributes.status === 'canceled' || attributes.status === 'terminated') return 'canceled'
  if (endedAt !== null) return 'completed'
  return Number(attributes.attempts) > 1 ? 'retrying' : 'open'
}

/** Kinds without a duration. */
export function isMark({ kind, startedAt, endedAt }: TraceNode): boolean {
  return kind === 'signal' || (kind === 'update' && endedAt !== null && endedAt - startedAt < 20)
}

/** The name as people know it: timers have numbers. */
export function labelOf({ kind, name, attributes }: TraceNode, duration: (ms: number) => string): string {
  if (kind !== 'timer') return name
  return typeof attributes.durationMs === 'number' ? `Timer of ${duration(attributes.durationMs)}` : `Timer ${name}`
}

const KINDS = new Map([
  ['workflow', 'Workflow'],
  ['step', 'Activity'],
  ['timer', 'Timer'],
  ['signal', 'Signal'],
  ['update', 'Update'],
  ['child_workflow', 'Child workflow'],
  ['nexus_operation', 'Nexus operation'],
  ['workflow_task', 'Workflow task'],
])

export function kindText({ kind, attributes }: TraceNode): string {
  if (kind === 'step' && attributes.local === true) return 'Local activity'
  return KINDS.get(kind) ?? `Span: ${kind}`
}
