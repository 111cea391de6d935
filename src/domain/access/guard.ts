/** The verbs, decorated: each one first decides whether the policy lets its caller do this. */
import type { CatalogEntry } from '../../protocol/catalog.ts'
import type { PolicyVerb } from '../../protocol/policy-verbs.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import { STREAM_PUBLISH } from '../../protocol/stream.ts'
import { pinnedByToken } from '../inspect/history.ts'
import type { ActivityCommand } from '../model/activity.ts'
import type { Call } from '../model/call.ts'
import type { Grant } from '../model/caller.ts'
import type { CatalogListing } from '../model/catalog-listing.ts'
import { hasErrorName } from '../model/errors.ts'
import type { ExecutionRef } from '../model/execution.ts'
import type { CreatedLink, CreateLinkCommand } from '../model/link.ts'
import type { VisibleRuns } from '../model/run-filter.ts'
import type { ControlCommand, SendCommand, StartCommand, Workflows } from '../model/workflows.ts'
import { pinnedToPosition } from '../stream/follow-stream.ts'
import {
  activityRule,
  admitsActivity,
  allowHolder,
  allowingGrants,
  allowOperator,
  decideOnRun,
  denied,
  grantsOf,
} from './decide.ts'
import { type DecideStartPorts, decideStart, keyOf, requestOf, type StartNeed, withoutForeign } from './decide-start.ts'
import { type AccessRequest, isNarrowed, RUN_VERBS, TOOL_VERBS } from './grant.ts'
import { createCatalogFilter, matchesAll, matchesAny } from './patterns.ts'

/** A start whose result is returned also reads. */
const READING: StartNeed = { also: [{ verb: 'read' }] }

/**
 * The outermost decorator: a new verb does not compile until it says here what it requires. Endpoints declare the same
 * right (`access`), and a test compares both.
 */
export function guarded(workflows: Workflows, ports: DecideStartPorts): Workflows {
  const filterCatalog = createCatalogFilter()

  // For an operator, the functions below are not async: otherwise a waiting request would take more memory.

  function onRun<T>(
    request: AccessRequest,
    ref: ExecutionRef,
    call: Call,
    act: (ref: ExecutionRef, call: Call) => Promise<T>,
  ): Promise<T> {
    const grants = grantsOf(call, ports)
    if (grants !== null) return decideOnRun(ports, grants, request, ref, call).then((it) => act(it.ref, it.call))
    allowOperator(request, ref, call)
    return act(ref, call)
  }

  function reading<T>(read: (ref: ExecutionRef, call: Call) => Promise<T>) {
    return (ref: ExecutionRef, call: Call) => onRun({ verb: 'read' }, ref, call, read)
  }

  function controlling<Command extends ControlCommand, T>(
    verb: PolicyVerb,
    act: (command: Command, call: Call) => Promise<T>,
  ) {
    return (command: Command, call: Call) =>
      onRun({ verb }, command.ref, call, (ref, call) => act({ ...command, ref }, call))
  }

  function sending<T>(verb: 'signal' | 'query' | 'update', send: (command: SendCommand, call: Call) => Promise<T>) {
    return (command: SendCommand, call: Call) =>
      onRun(requestOf(verb, command.message), command.ref, call, (ref, call) =>
        send({ ...command, ref, ...(isRestricted(call) && keyOf(command, call)) }, call),
      )
  }

  /** The verb may be narrowed to types of activities, and only the engine knows the type: see `admits`. */
  function completing<Command extends ActivityCommand, T>(act: (command: Command, call: Call) => Promise<T>) {
    return (command: Command, call: Call) =>
      onRun({ verb: 'complete' }, command.ref, call, (ref, call) => {
        const admits = admitsActivity(ports, ref, call)
        return act({ ...command, ref, admits, ...(isRestricted(call) && keyOf(command, call)) }, call)
      })
  }

  function starting<Command extends StartCommand, T>(
    command: Command,
    call: Call,
    need: StartNeed,
    act: (command: Command, call: Call) => Promise<T>,
  ): Promise<T> {
    const grants = grantsOf(call, ports)
    if (grants !== null) return startingWith(grants, command, call, need, act)
    const { workflowId, workflowName } = command
    const { action = 'start' } = need
    call.audit({ action, rule: null, workflowName, ...(workflowId !== undefined && { workflowId }) })
    return act(command, call)
  }

  async function startingWith<Command extends StartCommand, T>(
    grants: readonly Grant[],
    command: Command,
    call: Call,
    need: StartNeed,
    act: (command: Command, call: Call) => Promise<T>,
  ): Promise<T> {
    const allowed = await decideStart(ports, grants, command, call, need)
    try {
      return await act({ ...command, ...allowed.command }, allowed.call)
    } catch (error) {
      throw withoutForeign(error, ports, grants, command)
    }
  }

  /** One rule must allow both: to create links, and what the link sends. */
  async function createLink(command: CreateLinkCommand, call: Call): Promise<CreatedLink> {
    const { ref, kind, handler } = command
    const ofKind = kind === 'complete' ? { verb: kind } : { verb: kind, handler }
    const { workflowId } = ref
    const request = { verb: 'link' } as const
    const grants = grantsOf(call, ports)
    if (grants === null) {
      allowOperator(request, ref, call)
      return workflows.createLink(command, call)
    }
    const linking = allowingGrants(ports, grants, { ...request, workflowId })
    if (linking.length === 0) throw denied({ ...request, workflowId }, call)
    const allowed = await decideOnRun(ports, linking, ofKind, ref, call)
    call.audit({ action: request.verb })
    const ruleFor = activityRule(ports, linking, ref, call)
    return workflows.createLink({ ...command, ref: allowed.ref, rule: allowed.rule, ruleFor }, allowed.call)
  }

  /** The runs that a list may contain; undefined for all. */
  function visibleTo(call: Call): VisibleRuns[] | undefined {
    const grants = grantsOf(call, ports)
    const request = { verb: 'list' } as const
    if (grants === null) return void allowOperator(request, {}, call)
    const allowing = allowingGrants(ports, grants, request)
    const [first] = allowing
    if (first === undefined) throw denied(request, call)
    call.audit({ action: 'list', rule: first.rule })
    if (allowing.some(({ ids, workflows }) => matchesAll(ids) && matchesAll(workflows))) return undefined
    return allowing.map(({ ids, workflows }) => ({ ids, workflows }))
  }

  /** The workflows for which the caller has one of the verbs `listing`. Each of `reading` lets it read the catalog. */
  async function listing(
    read: Workflows['catalog'],
    verbs: { action: 'catalog' | 'tools'; reading: readonly PolicyVerb[]; listing: readonly PolicyVerb[] },
    catalog: string,
    call: Call,
  ): Promise<CatalogListing> {
    const grants = grantsOf(call, ports)
    call.audit({ action: verbs.action, rule: null })
    if (grants === null) return read(catalog, call)
    const allowing = (verb: PolicyVerb) => allowingGrants(ports, grants, { verb, catalog })
    const [first] = verbs.reading.flatMap(allowing)
    if (first === undefined) throw denied({ verb: 'read', catalog }, call)
    call.audit({ rule: first.rule })
    const listed = await read(catalog, call)
    const granting = verbs.listing.flatMap(allowing)
    return { ...listed, workflows: granting.length === 0 ? NONE : filterCatalog(listed.workflows, granting) }
  }

  return {
    start: (command, call) => starting(command, call, command.mayRead ? READING : {}, workflows.start),
    run: (command, call) => starting(command, call, READING, workflows.run),
    validate: (command, call) => starting(command, call, { action: 'validate' }, workflows.validate),
    signalWithStart: ({ start, signal }, call) =>
      starting(start, call, { also: [requestOf('signal', signal)], carriesMessage: true }, (start, call) =>
        audited(call, workflows.signalWithStart({ start, signal }, call)),
      ),
    updateWithStart: ({ start, update }, call) =>
      starting(start, call, { also: [requestOf('update', update)], carriesMessage: true }, (start, call) =>
        audited(call, workflows.updateWithStart({ start, update }, call)),
      ),
    status: reading(workflows.status),
    checkRead: reading(workflows.checkRead),
    async readChain(ref, call) {
      try {
        return await onRun({ verb: 'read' }, ref, call, workflows.readChain)
      } catch (error) {
        if (!hasErrorName(error, 'WorkflowNotFoundError') || ref.runId === undefined || !isRestricted(call)) throw error
        // The run may have been deleted. The latest one can be read instead, if it is of the same chain.
        const { workflowId } = ref
        return onRun({ verb: 'read' }, { workflowId }, call, async (latest, call) => {
          const chain = await workflows.readChain(ref, call)
          if (chain.runId !== latest.runId) throw error
          return chain
        })
      }
    },
    explain: reading(workflows.explain),
    input: reading(workflows.input),
    trace: reading(workflows.trace),
    result: (command, call) =>
      onRun({ verb: 'read' }, command.ref, call, (ref, call) => workflows.result({ ...command, ref }, call)),
    async history(command, call) {
      // The page token names the run that is read. Clients can make tokens, so this run must be allowed.
      const ref = isRestricted(call) ? await pinnedByToken(command, ports.namespace) : command.ref
      return onRun({ verb: 'read' }, ref, call, (ref, call) => workflows.history({ ...command, ref }, call))
    },
    followHistory: (command, call) =>
      onRun({ verb: 'read' }, command.ref, call, (ref, call) => workflows.followHistory({ ...command, ref }, call)),
    followStream: (command, call) =>
      onRun({ verb: 'read' }, pinnedToPosition(command), call, (ref, call) =>
        workflows.followStream({ ...command, ref }, call),
      ),
    readStream: (command, call) =>
      onRun({ verb: 'read' }, pinnedToPosition(command), call, (ref, call) =>
        workflows.readStream({ ...command, ref }, call),
      ),
    publish: (command, call) =>
      onRun({ verb: 'signal', handler: STREAM_PUBLISH }, command.ref, call, (ref, call) =>
        workflows.publish({ ...command, ref, ...(isRestricted(call) && keyOf(command, call)) }, call),
      ),
    async list(command, call) {
      const visible = visibleTo(call)
      if (visible === undefined) return workflows.list(command, call)
      const page = await workflows.list({ ...command, filter: { ...command.filter, visible } }, call)
      // The engine's database may ignore case.
      const isVisible = ({ workflowId, workflowName }: (typeof page.runs)[number]) =>
        visible.some(({ ids, workflows }) => matchesAny(ids, workflowId) && matchesAny(workflows, workflowName))
      return { ...page, runs: page.runs.filter(isVisible) }
    },
    async count(command, call) {
      const visible = visibleTo(call)
      return workflows.count(
        visible === undefined ? command : { ...command, filter: { ...command.filter, visible } },
        call,
      )
    },
    signal: sending('signal', workflows.signal),
    query: sending('query', workflows.query),
    update: sending('update', workflows.update),
    startUpdate: sending('update', workflows.startUpdate),
    readUpdate: (command, call) =>
      onRun({ verb: 'update', handler: command.name }, command.ref, call, (ref, call) => {
        // The engine finds an update by its id alone.
        const checksName = grantsOf(call, ports)?.some((grant) => isNarrowed(grant, 'update')) === true
        return workflows.readUpdate({ ...command, ref, ...(checksName && { checksName }) }, call)
      }),
    createLink,
    readLink(link, call) {
      allowHolder({ verb: 'read' }, link, call)
      return workflows.readLink(link, call)
    },
    useLink(command, call) {
      allowHolder({ verb: command.link.kind, handler: command.link.handler }, command.link, call)
      return workflows.useLink(command, call)
    },
    stop: controlling('stop', workflows.stop),
    terminate: controlling('terminate', workflows.terminate),
    pause: controlling('pause', workflows.pause),
    unpause: controlling('pause', workflows.unpause),
    reset: controlling('reset', workflows.reset),
    completeActivity: completing(workflows.completeActivity),
    failActivity: completing(workflows.failActivity),
    heartbeatActivity: completing(workflows.heartbeatActivity),
    catalog: (catalog, call) =>
      listing(workflows.catalog, { action: 'catalog', reading: RUN_VERBS, listing: RUN_VERBS }, catalog, call),
    startable: (catalog, call) =>
      listing(workflows.startable, { action: 'tools', reading: TOOL_VERBS, listing: ['start'] }, catalog, call),
    async capabilities(call) {
      const capabilities = await workflows.capabilities(call)
      return isRestricted(call) ? { ...capabilities, engine: { version: null, uiUrl: null } } : capabilities
    },
    ready: workflows.ready,
  }
}

// Always the same array, because responses are cached with the array as the key.
const NONE: CatalogEntry[] = []

async function audited<Run extends RunRef>(call: Call, running: Promise<Run>): Promise<Run> {
  const run = await running
  call.audit({ workflowId: run.workflowId, runId: run.runId })
  return run
}

function isRestricted({ caller }: Call): boolean {
  return caller !== undefined && caller.grants !== null
}
