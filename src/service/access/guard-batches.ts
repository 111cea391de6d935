/** The rows of batches. A caller with rules sees its own ones only. */
import type { Grant } from '../../shared/access/caller.ts'
import { actionOf } from '../../shared/access/grant.ts'
import { matchesAll, matchesAny } from '../../shared/access/patterns.ts'
import { type BatchPage, batchNotFound, batchOwner, type OnBatch } from '../model/batch.ts'
import type { Call } from '../model/call.ts'
import type { Act, CreateBatchCommand, CreatedBatch } from '../model/commands.ts'
import { allowingGrants, denied, keyOf, rightsOf, withDecision } from './decide.ts'
import type { Verb, VerbPorts } from './guard.ts'

/** Changes many runs at once: one rule must allow that, and the same change of each run. */
export function onCreateBatch(
  act: Act<VerbPorts, CreateBatchCommand, CreatedBatch>,
): Verb<CreateBatchCommand, CreatedBatch> {
  return {
    access: 'batch',
    act,
    async decide(ports, input, given, act) {
      const call = withDecision(given)
      const { operation: verb, signal } = input
      const request = { verb, ...(signal && { handler: signal.name }) }
      call.audit({ operation: actionOf(request) })
      const batching = allowed(ports, call)
      if (batching === null) return act(input, call)
      const allowing = allowingGrants(ports, batching, request)
      const [first] = allowing
      if (first === undefined) throw denied(request, call)
      call.audit({ rule: first.rule })
      const own = { ...input, ...keyOf(input, call) }
      if (allowing.some(({ ids, workflows }) => matchesAll(ids) && matchesAll(workflows))) return act(own, call)
      const admits: CreateBatchCommand['admits'] = ({ workflowId, workflowName }) =>
        allowing.some(({ ids, workflows }) => matchesAny(ids, workflowId) && matchesAny(workflows, workflowName))
      return act({ ...own, visible: allowing.map(({ ids, workflows }) => ({ ids, workflows })), admits }, call)
    },
  }
}

/** Reads a batch, or changes it: the audit log says how. */
export function onBatch<Input extends OnBatch, Output>(
  act: Act<VerbPorts, Input, Output>,
  change?: 'stop-batch',
): Verb<Input, Output> {
  return {
    access: 'batch',
    act,
    async decide(ports, input, given, act) {
      const call = withDecision(given)
      const { batchId } = input
      call.audit({ batchId, ...(change && { operation: change }) })
      if (allowed(ports, call) !== null && !batchId.startsWith(await batchOwner(call))) {
        call.audit({ rule: 'none' })
        throw batchNotFound(batchId)
      }
      return act(input, call)
    },
  }
}

export function onBatches<Input>(act: Act<VerbPorts, Input, BatchPage>): Verb<Input, BatchPage> {
  return {
    access: 'batch',
    act,
    async decide(ports, input, given, act) {
      const call = withDecision(given)
      const grants = allowed(ports, call)
      const page = await act(input, call)
      if (grants === null) return page
      const owner = await batchOwner(call)
      return { ...page, batches: page.batches.filter(({ batchId }) => batchId.startsWith(owner)) }
    },
  }
}

/** The rules with the right; null for an operator. */
function allowed(ports: VerbPorts, call: Call): Grant[] | null {
  call.audit({ action: 'batch', rule: null })
  const rights = rightsOf(call, ports)
  if (rights.kind === 'operator') return null
  const grants = allowingGrants(ports, rights.grants, { verb: 'batch' })
  const [first] = grants
  if (first === undefined) throw denied({ verb: 'batch' }, call)
  call.audit({ rule: first.rule })
  return grants
}
