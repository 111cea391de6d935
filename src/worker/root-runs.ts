import type { RunRef } from '../protocol/run-ref.ts'
import type { RootRun } from '../protocol/trace-keys.ts'
import type { EngineCalls } from './engine-calls.ts'

/** The run in whose trace a run is told, and the catalog whose workers store it. */
export interface Root extends RootRun {
  catalog: string
}

export interface RootRuns {
  /** What is known without asking anybody. */
  known(runId: string): Root | null
  learn(runId: string, root: Root): void
  /** A run without a parent, or with a parent whose workers record nothing, is its own root. Null when the engine does not know the run. */
  rootOf(run: RunRef): Promise<Root | null>
}

const MAX_KNOWN = 10_000

// As deep as anybody has nested children.
const MAX_PARENTS = 100

export function createRootRuns({ engine, catalog }: { engine: EngineCalls; catalog: string }): RootRuns {
  const roots = new Map<string, Root>()
  const learn = (runId: string, root: Root) => {
    roots.delete(runId)
    roots.set(runId, root)
    const [oldest] = roots.keys()
    if (roots.size > MAX_KNOWN && oldest !== undefined) roots.delete(oldest)
  }

  async function climb(run: RunRef, left: number): Promise<Root | null> {
    const learned = roots.get(run.runId)
    if (learned !== undefined) return learned
    const facts = await engine.describe(run)
    if (facts === null) return null
    const above = facts.parent === null || left === 0 ? null : await rootAbove(facts.parent, left)
    const root = above ?? { workflowId: facts.workflowId, rootRunId: facts.firstRunId, catalog: facts.catalog }
    learn(run.runId, root)
    return root
  }

  async function rootAbove(parent: RunRef, left: number): Promise<Root | null> {
    if (roots.has(parent.runId)) return roots.get(parent.runId) ?? null
    const facts = await engine.describe(parent)
    if (facts === null) return null
    const records = facts.catalog === catalog || (await engine.recordsTraces(facts.catalog))
    return records ? climb(parent, left - 1) : null
  }

  return { known: (runId) => roots.get(runId) ?? null, learn, rootOf: (run) => climb(run, MAX_PARENTS) }
}
