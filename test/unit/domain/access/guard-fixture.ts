import { guarded } from '../../../../src/domain/access/guard.ts'
import type { Grant } from '../../../../src/domain/model/caller.ts'
import { workflowNotFound } from '../../../../src/domain/model/errors.ts'
import type { StartCommand, Workflows } from '../../../../src/domain/model/workflows.ts'
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
}

/** The guard around verbs that record their calls, and a call of the caller. */
export function makeGuard({ grants, verbs = {}, runOf = 'order', isDeleted = () => false }: GuardFixture) {
  const done: { verb: string; command: unknown }[] = []
  const described: unknown[] = []
  const recording = new Proxy(verbs, {
    get: (given, verb: string) => async (command: unknown, call: unknown) => {
      done.push({ verb, command })
      const act = Reflect.get(given, verb)
      return act === undefined ? {} : act(command, call)
    },
  })
  const read = (ref: { workflowId: string; runId?: string }) => {
    described.push(ref)
    if (runOf === null || isDeleted(ref.runId)) throw workflowNotFound(ref)
    return { ...aDescription({ ...ref, runId: ref.runId ?? RUN_ID, workflowName: runOf }), open: true }
  }
  const workflows = guarded(recording as Workflows, {
    namespace: 'default',
    defaults: { catalog: 'orders', namespace: 'default' },
    engine: { describe: async (ref) => read(ref) },
    knownRuns: { read: async (ref) => ({ value: read(ref), readAt: Date.now() }) },
    catalogs: {
      published: () => ({
        value: {
          run: { workflowId: '$catalog:orders', runId: 'c1' },
          hash: 'h',
          version: null,
          redacted: false,
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
  })
  const call = aCall({ caller: { id: 'jwt:main:ada', grants, limits: null } })
  return { workflows, call, done, described }
}

export const REF = { workflowId: 'u:ada:1' }
