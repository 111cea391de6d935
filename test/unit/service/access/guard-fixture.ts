import { createCatalogFilter } from '../../../../src/service/access/catalog-filter.ts'
import type { VerbPorts } from '../../../../src/service/access/guard.ts'
import type { StartCommand } from '../../../../src/service/model/commands.ts'
import { workflowNotFound } from '../../../../src/service/model/errors.ts'
import { bindVerbs } from '../../../../src/service/stack.ts'
import { VERBS, type Workflows } from '../../../../src/service/verbs.ts'
import type { Grant, Rights } from '../../../../src/shared/access/caller.ts'
import { aCall } from '../../call.ts'
import { aDescription } from '../catalog-fixture.ts'

export const RUN_ID = '01a20cdc-7f73-7485-8a11-b95c90e3c290'
export const MESSAGE = { name: 'approve', args: [], argumentPointer: '/payload' }
export const START: StartCommand = { workflowName: 'order', catalog: 'orders', args: [], argumentPointer: '/input' }

export function aGrant(overrides: Partial<Grant>): Grant {
  return { rule: 'users', can: ['*'], options: [], ...overrides }
}

interface GuardFixture {
  /** Null: an operator. */
  grants: Grant[] | null
  /** Verbs that do more than to record their call. */
  verbs?: Partial<Workflows>
  /** The workflow of the run `u:ada:1`; null if there is no run. */
  runOf?: string | null
  /** Which of its runs do not exist any more. */
  isDeleted?: (runId: string | undefined) => boolean
  /** Delays each read of a run. */
  beforeRead?: () => Promise<void>
}

/** The guard around verbs that record their calls, and a call of the caller. */
export function makeGuard({ grants, verbs = {}, runOf = 'order', isDeleted = () => false, beforeRead }: GuardFixture) {
  const done: { verb: string; command: unknown }[] = []
  const described: unknown[] = []
  const recording = Object.entries(VERBS).map(([verb, row]) => {
    const act = async (_: VerbPorts, command: never, call: never) => {
      done.push({ verb, command })
      return (await verbs[verb as keyof typeof VERBS]?.(command, call)) ?? {}
    }
    return [verb, { ...row, act }]
  })
  const read = (ref: { workflowId: string; runId?: string }) => {
    described.push(ref)
    if (runOf === null || isDeleted(ref.runId)) throw workflowNotFound(ref)
    return { ...aDescription({ ...ref, runId: ref.runId ?? RUN_ID, workflowName: runOf }), open: true }
  }
  const ports: Partial<VerbPorts> | object = {
    namespace: 'default',
    defaults: { catalog: 'orders', namespace: 'default' },
    engine: { describe: async (ref) => beforeRead?.().then(() => read(ref)) ?? read(ref) },
    knownRuns: { read: async (ref) => ({ value: read(ref), readAt: Date.now() }) },
    catalogs: {
      published: () => ({
        value: {
          run: { workflowId: '$catalog:orders', runId: 'c1' },
          hash: 'h',
          version: null,
          redacted: false,
          publisher: null,
          traces: null,
          workflowNames: new Map([
            ['order', 'order'],
            ['bestellung', 'order'],
            ['admin', 'admin'],
          ]),
        },
        readAt: Date.now(),
      }),
    },
    filterCatalog: createCatalogFilter(),
  }
  const workflows = bindVerbs(Object.fromEntries(recording) as typeof VERBS, ports as VerbPorts)
  const rights: Rights = grants === null ? { kind: 'operator' } : { kind: 'granted', grants }
  const call = aCall({ caller: { ...rights, id: 'jwt:main:ada', limits: null } })
  return { workflows, call, done, described }
}

export const REF = { workflowId: 'u:ada:1' }
