/** The workflows of the soak (`lab/soak/workflows.ts`), as a worker carries them out. */
import type { Random } from '../../lab/soak/random.ts'
import {
  type Command,
  firstValue,
  type HistoryEvent,
  type Run,
  type Update,
  type WorkerModel,
} from './engine-model/run.ts'

/** What all workflows of the soak take. */
interface Input {
  marker?: unknown
  /** After how many messages the ledger continues as new. */
  perRun?: number
  applied?: unknown[]
  /** How many runs follow. */
  links?: number
  /** How many steps it has. */
  count?: number
}

interface State {
  applied: unknown[]
  messages: number
  isFinished: boolean
  /** Updates whose handlers wait. */
  handlers: number
  isWaiting: boolean
}

export function soakWorker(random: Random): WorkerModel {
  return {
    latencyMs: () => 2 + random.below(30),
    query(run) {
      return run.type === 'ledger' ? { applied: stateOf(run).applied } : undefined
    },
    task(run, events, updates) {
      if (run.type === 'ledger') return ledger(run, events, updates)
      const rejections = updates.map((update) => ({
        reject: update,
        message: `No registered handler for update: ${update.name}`,
      }))
      return [...rejections, ...withoutHandlers(run)]
    },
  }
}

function withoutHandlers(run: Run): Command[] {
  const input = inputOf(run)
  if (run.type === 'steps') return steps(run, input)
  if (run.type === 'fails') return [{ fail: `failed as ${input.marker} asked` }]
  if (run.type !== 'chain') return [{ complete: input }]
  const state = stateOf(run)
  if (run.isCancelRequested) return [{ cancel: true }]
  if (state.isWaiting) return []
  state.isWaiting = true
  const { links = 0 } = input
  const end: Command = links > 0 ? { continueAsNew: { ...input, links: links - 1 } } : { complete: input }
  return [{ afterMs: 100, next: () => [end] }]
}

/** Its steps, one after the other, as its history has them. */
function steps({ events, activities }: Run, input: Input): Command[] {
  if (activities.size > 0) return []
  const done = events.filter((event) => event.activityTaskCompletedEventAttributes !== undefined).length
  if (done >= (input.count ?? 0)) return [{ complete: input }]
  return [{ activity: String(done + 1), type: 'step', input: done, runsMs: 5 }]
}

function ledger(run: Run, events: readonly HistoryEvent[], updates: readonly Update[]): Command[] {
  const state = stateOf(run)
  for (const { workflowExecutionSignaledEventAttributes: signal } of events as SignalEvents) {
    if (signal === undefined) continue
    take(state, firstValue(signal.input))
    if (signal.signalName === 'finish') state.isFinished = true
  }
  const handled = updates.flatMap((update) => handle(run, state, update))
  // No handler of the task returns before all of its updates are accepted.
  const isAnswer = (command: Command) => 'answer' in command
  const others = handled.filter((command) => !isAnswer(command))
  return [...others, ...handled.filter(isAnswer), ...endOf(run, state)]
}

type SignalEvents = readonly {
  workflowExecutionSignaledEventAttributes?: { signalName: string; input: Run['input'] }
}[]

function handle(run: Run, state: State, update: Update): Command[] {
  const marker = firstValue(update.args)
  if (update.name === 'set' && String(marker).startsWith('reject-'))
    return [{ reject: update, message: 'rejected by the validator' }]
  if (update.name !== 'setSlowly') return [{ accept: update }, { answer: update, value: take(state, marker) }]
  state.handlers++
  const next = (): Command[] => {
    state.handlers--
    return [{ answer: update, value: take(state, marker) }, ...endOf(run, state)]
  }
  return [{ accept: update }, { afterMs: 300, next }]
}

function take(state: State, marker: unknown): object {
  state.messages++
  state.applied.push(marker)
  return { marker, position: state.applied.length }
}

/** What ends the run now. */
function endOf(run: Run, { applied, handlers, isFinished, messages }: State): Command[] {
  const { marker, perRun = Number.POSITIVE_INFINITY } = inputOf(run)
  if (run.isCancelRequested) return [{ cancel: true }]
  if (handlers > 0 || !(isFinished || messages >= perRun)) return []
  return [isFinished ? { complete: { marker, applied } } : { continueAsNew: { marker, perRun, applied } }]
}

function inputOf({ input }: Run): Input {
  return firstValue(input) ?? {}
}

function stateOf(run: Run): State {
  const { applied = [] } = inputOf(run)
  run.state ??= { applied: [...applied], messages: 0, isFinished: false, handlers: 0, isWaiting: false } satisfies State
  return run.state as State
}
