/** The commands about workflows and their runs. */
import { type Command, InvalidArgumentError } from 'commander'
import type { STANDALONE_COMMANDS } from './commands/activity/standalone.ts'
import type { BATCH_COMMANDS } from './commands/batch.ts'
import type { MESSAGE_COMMANDS } from './commands/message.ts'
import type { ACTIVITY_COMMANDS, RUN_COMMANDS } from './commands/one-run.ts'
import type { SCHEDULE_COMMANDS } from './commands/schedule/schedule.ts'

/** Commander has no types for flags: a command's flags are those that it declares here. */
type Flags = never

const JSON_VALUE = 'JSON, @file, or - for stdin'

export function addRunCommands(program: Command): void {
  const command = (name: string, description: string) => program.command(name).description(description)
  addStartCommands(command)
  addInspectCommands(command)
  addListCommands(command)
  addQuestionCommands(command)
  addMessageCommands(command)
  const activity = command('activity', 'activities: of a workflow, or without one')
  addActivityCommands(activity)
  addStandaloneCommands(activity)
  addControlCommands(command)
  addBatchCommands(command('batch', 'signal, stop or terminate all open runs that match filters'))
  addScheduleCommands(command('schedule', 'start workflows at certain times'))
}

type AddCommand = (name: string, description: string) => Command

function addStartCommands(command: AddCommand): void {
  withKey(withStartFlags(command('run', 'start a workflow, wait for its end and print its result')))
    .option('--timeout <duration>', 'how long to wait, such as 30s; the workflow keeps running')
    .action(calling(async () => (await import('./commands/start.ts')).startAndWait))
  withKey(withStartFlags(command('start', 'start a workflow and print its ids'))).action(
    calling(async () => (await import('./commands/start.ts')).startWithoutWaiting),
  )
  withStartFlags(command('validate', 'check what run and start would check, and start nothing')).action(
    calling(async () => (await import('./commands/start.ts')).validateStart),
  )
  command('bulk', 'start, signal, stop or terminate many workflows: one JSON object on each line')
    .option('-f, --file <file>', 'the lines (docs/api/bulk.md); default: stdin')
    .option('--key <key>', 'idempotency key: lines that are sent again do nothing twice; default: a new one')
    .action(calling(async () => (await import('./commands/bulk.ts')).bulkOfLines))
}

function addInspectCommands(command: AddCommand): void {
  withRun(command('result', 'wait for the end of a run and print its result'))
    .option('--timeout <duration>', 'how long to wait, such as 30s')
    .option('--no-wait', 'fail if the run is open')
    .action(calling(async () => (await import('./commands/result.ts')).printResult))
  withRun(command('status', "print a run's status")).action(ofRun('status'))
  withRun(command('explain', 'print why a run does not move, and what to do about it')).action(ofRun('explain'))
  withRun(command('input', 'print the arguments of a run')).action(ofRun('input'))
  withRun(command('trace', 'print the steps of a run as a timeline')).action(ofRun('trace'))
  withPages(withRun(command('history', 'print the events of a run')))
    .option('--no-payloads', 'leave out arguments, results and other encoded values')
    .option('--follow', 'print new events until the run has ended; in a pipe one event on each line')
    .action(calling(async () => (await import('./commands/history.ts')).history))
  withRun(command('stream', 'print the items that a workflow publishes, until it has ended; in a pipe as JSON'))
    .option('--topic <topic>', 'only items of this topic; repeat it for several', repeated)
    .option('--from <place>', 'an offset, the id of an item to begin after it, or now; default: 0')
    .action(calling(async () => (await import('./commands/stream.ts')).stream))
}

function addListCommands(command: AddCommand): void {
  withPages(withFilter(command('list', 'list the runs that match all filters'))).action(
    calling(async () => (await import('./commands/list.ts')).list),
  )
  withFilter(command('count', 'count the runs that match all filters'))
    .option('--group-by <field>', 'status: count the runs of each status too')
    .action(calling(async () => (await import('./commands/list.ts')).count))
}

function addQuestionCommands(command: AddCommand): void {
  withPages(
    withOpenFilter(command('questions', 'list what open runs ask people')),
    'runs that are read, 1 to 1000; default 200',
  )
    .option('--to <name>', 'only questions for this name; repeat it for several', repeated)
    .action(calling(async () => (await import('./commands/questions.ts')).questions))
  withRun(command('answer', 'answer a question, once for all callers'))
    .argument('<key>', 'key of the question')
    .requiredOption('--content <json>', `the answer: ${JSON_VALUE}`)
    .action(calling(async () => (await import('./commands/questions.ts')).answer))
}

function addMessageCommands(command: AddCommand): void {
  withMessage(command('signal', 'send a signal'))
    .option('--key <key>', 'idempotency key: the run receives the signal once')
    .action(ofHandler('signal'))
  withMessage(command('query', 'send a query and print its result'))
    .option('--timeout <duration>', 'how long to wait, such as 30s')
    .action(ofHandler('query'))
  withMessage(command('update', 'send an update and print its result'))
    .option('--timeout <duration>', 'how long to wait, such as 30s')
    .option('--key <key>', 'idempotency key: the run receives the update once')
    .action(ofHandler('update'))
}

function addActivityCommands(activity: Command): void {
  const command = (name: string, description: string) =>
    withRun(activity.command(name).description(description)).argument('<activity>', 'id of the activity')
  const withOwnKey = (command: Command) =>
    command.option('--key <key>', 'idempotency key: the request is carried out once; default: a new one')
  withOwnKey(command('complete', 'complete an activity'))
    .option('--output <json>', `what it returns; default: nothing: ${JSON_VALUE}`)
    .option('--payloads <file>', "a JSON array with one of Temporal's payloads, instead of --output")
    .action(ofActivity('complete'))
  withOwnKey(command('fail', 'fail an activity; its retry policy decides whether it is executed again'))
    .requiredOption('--message <message>', 'what has happened')
    .option('--name <name>', 'type of the error')
    .option('--details <json>', `an array of values for the workflow: ${JSON_VALUE}`)
    .option('--no-retry', 'do not execute it again')
    .action(ofActivity('fail'))
  withOwnKey(command('cancel', 'report that an activity has ended because its workflow canceled it'))
    .option('--details <json>', `a value for the workflow: ${JSON_VALUE}`)
    .action(ofActivity('cancel'))
  command('heartbeat', 'report that an activity makes progress')
    .option('--details <json>', `the progress: ${JSON_VALUE}`)
    .action(ofActivity('heartbeat'))
  command('retry', 'start the next attempt now instead of after its backoff')
    .option('--drop-heartbeat', 'without what the last heartbeat has reported')
    .option('--restore-options', 'with the timeouts and the retry policy with which it was scheduled')
    .action(ofActivity('retry'))
  command('pause', 'start no further attempt until unpause')
    .option('--reason <reason>', 'kept until the activity is unpaused')
    .action(ofActivity('pause'))
  command('unpause', 'let a paused activity continue').action(ofActivity('unpause'))
  command('set', 'change timeouts, retry policy or task queue')
    .requiredOption('--options <json>', `what to change (docs/api/activities.md, Repair): ${JSON_VALUE}`)
    .action(ofActivity('set'))
}

/** Activities without a workflow. */
function addStandaloneCommands(activity: Command): void {
  const command = (name: keyof typeof STANDALONE_COMMANDS, description: string) =>
    activity
      .command(name)
      .description(description)
      .action(calling(async () => (await import('./commands/activity/standalone.ts')).STANDALONE_COMMANDS[name]))
  const start = (name: 'run' | 'start', description: string) =>
    withArguments(command(name, description).argument('<activity>', 'name of the activity'))
      .option('--id <id>', 'activity id; default: a new one')
      .option('--catalog <catalog>', 'task queue of the workers; default: that of the service')
      .option('--options <json>', `such as retry and startToCloseTimeout (docs/api/activities-alone.md): ${JSON_VALUE}`)
      .option('--key <key>', 'idempotency key: the activity is started once; default: a new one')
  const onActivity = (name: 'result' | 'status' | 'stop' | 'terminate', description: string) =>
    command(name, description)
      .argument('<id>', 'activity id')
      .option('--run <run-id>', 'one run; default: the latest run')
  const withTimeout = (command: Command) => command.option('--timeout <duration>', 'how long to wait, such as 30s')
  const withReason = (command: Command) => command.option('--reason <reason>')
  withTimeout(start('run', 'execute an activity without a workflow, and print its result'))
  start('start', 'start an activity without a workflow, and print its ids')
  withTimeout(onActivity('result', 'wait for the end of such an activity and print its result'))
  onActivity('status', 'print the state of such an activity')
  withReason(onActivity('stop', 'request its cancellation'))
  withReason(onActivity('terminate', 'end it at once'))
  withPages(command('ls', 'list such activities, open ones first'))
    .option('--name <name>', 'name of the activity')
    .option('--status <status>', 'such as running, completed or failed')
    .option('--query <filter>', "an expression in Temporal's list filter language")
}

function addControlCommands(command: AddCommand): void {
  const control = (name: string, description: string) =>
    withRun(command(name, description)).option('--reason <reason>', 'recorded in the history')
  control('stop', 'request cancellation; cleanup code runs').action(ofRun('stop'))
  control('terminate', 'end a run at once; no cleanup code runs').action(ofRun('terminate'))
  control('pause', 'stop the progress of a run until unpause').action(ofRun('pause'))
  control('unpause', 'let a paused run continue').action(ofRun('unpause'))
  control('reset', 'execute a run again, from after a step or an event')
    .option('--step <name>', 'the last completed step of this name is the last one that is kept')
    .option('--event <id>', 'id of an event of the history, which is kept; 1 executes the whole workflow again')
    .action(ofRun('reset'))
}

function addScheduleCommands(schedule: Command): void {
  const command = (name: string, description: string) => schedule.command(name).description(description)
  const onSchedule = (name: keyof typeof SCHEDULE_COMMANDS, description: string) =>
    command(name, description)
      .argument('<id>', 'schedule id')
      .action(calling(async () => (await import('./commands/schedule/schedule.ts')).SCHEDULE_COMMANDS[name]))
  const withReason = (command: Command) => command.option('--reason <reason>', 'becomes the note of the schedule')
  const withOverlap = (command: Command) =>
    command.option('--overlap <policy>', 'such as skip, buffer-one or allow-all; default: that of the schedule')
  const withRange = (command: Command) =>
    command
      .requiredOption('--from <time>', 'such as 2026-12-01T00:00:00Z; included')
      .requiredOption('--until <time>', 'included')
  onSchedule('put', 'create a schedule, or replace it')
    .requiredOption('-f, --file <file>', 'the document: docs/api/schedules.md')
    .option('--if-match <version>', 'only if this is its version')
    .option('--create', 'only if it does not exist')
  onSchedule('get', 'print a schedule')
  withPages(command('ls', 'list schedules, the newest first'))
    .option('--paused', 'only those that are paused')
    .option('--query <filter>', "an expression in Temporal's list filter language")
    .action(calling(async () => (await import('./commands/schedule/schedule.ts')).listSchedules))
  onSchedule('rm', 'delete a schedule; its runs go on')
  withReason(onSchedule('pause', 'start no more runs'))
  withReason(onSchedule('unpause', 'start runs again'))
  withOverlap(onSchedule('trigger', 'start a run now'))
  withOverlap(withRange(onSchedule('backfill', 'start the runs of a range of time')))
  withRange(onSchedule('times', 'print the times at which a schedule acts'))
  command('apply', 'make the schedules of a set those of a folder: <id>.json for each')
    .argument('<folder>')
    .requiredOption('--set <name>', 'name of the set')
    .option('--prune', 'delete the schedules of the set that the folder does not have')
    .option('--dry-run', 'print what would change, and change nothing')
    .action(calling(async () => (await import('./commands/schedule/apply.ts')).applySchedules))
}

function addBatchCommands(batch: Command): void {
  const command = (name: keyof typeof BATCH_COMMANDS, description: string) =>
    batch
      .command(name)
      .description(description)
      .action(calling(async () => (await import('./commands/batch.ts')).BATCH_COMMANDS[name]))
  const create = (command: Command) =>
    withOpenFilter(command)
      .option('--problem', 'only runs whose code fails again and again')
      .option('--all', 'without a filter: all open runs')
      .option('--reason <reason>', 'recorded with the batch')
      .option('--key <key>', 'idempotency key: the batch is created once; default: a new one')
      .option('--wait', 'wait for its end')
  withArguments(create(command('signal', 'send each run a signal').argument('<name>', 'name of the signal')))
  create(command('stop', 'request the cancellation of each run'))
  create(command('terminate', 'end each run at once'))
  command('get', 'print how far a batch is').argument('<id>', 'batch id')
  command('halt', 'stop a batch; what it has done remains')
    .argument('<id>', 'batch id')
    .option('--reason <reason>', 'recorded with the batch')
  withPages(command('ls', 'list batches'))
}

/** The action of a command: calls the function that is loaded with the arguments and the flags. */
function calling(load: () => Promise<(...values: Flags[]) => Promise<void>>) {
  return async (...values: unknown[]): Promise<void> => {
    // Commander passes the arguments, the command's own flags and the command.
    const command = values.at(-1) as Command
    const act = await load()
    await act(...([...values.slice(0, -2), command.optsWithGlobals()] as Flags[]))
  }
}

const ofRun = (name: keyof typeof RUN_COMMANDS) =>
  calling(async () => (await import('./commands/one-run.ts')).RUN_COMMANDS[name])

const ofActivity = (name: keyof typeof ACTIVITY_COMMANDS) =>
  calling(async () => (await import('./commands/one-run.ts')).ACTIVITY_COMMANDS[name])

const ofHandler = (name: keyof typeof MESSAGE_COMMANDS) =>
  calling(async () => (await import('./commands/message.ts')).MESSAGE_COMMANDS[name])

function withStartFlags(command: Command): Command {
  return withArguments(command.argument('<workflow>', 'name of the workflow'))
    .option('--id <id>', 'workflow id; default: a new one')
    .option('--catalog <catalog>', 'task queue of the workers; default: that of the service')
    .option('--options <json>', `start options such as memo, retry and runTimeout (docs/api/start.md): ${JSON_VALUE}`)
}

function withKey(command: Command): Command {
  return command.option('--key <key>', 'idempotency key: the workflow is started once; default: a new one')
}

function withMessage(command: Command): Command {
  return withArguments(withRun(command).argument('<name>', 'name of the handler'))
}

function withArguments(command: Command): Command {
  return command
    .option('--input <json>', `the only argument: ${JSON_VALUE}`, (value: string, before?: string) => {
      if (before !== undefined) throw new InvalidArgumentError('Use --arg for each of several arguments.')
      return value
    })
    .option('--arg <json>', 'one of several arguments; repeat it', repeated)
    .option('--payloads <file>', "a JSON array of Temporal's payloads, instead of --input and --arg")
}

/** All values of a flag that is repeated. */
function repeated(value: string, before: string[] = []): string[] {
  return [...before, value]
}

function withRun(command: Command): Command {
  return command.argument('<id>', 'workflow id').option('--run <run-id>', 'one run; default: the latest run')
}

function withFilter(command: Command): Command {
  return withOpenFilter(command)
    .option('--status <status>', 'such as running, completed or failed')
    .option('--problem', 'only open runs whose code fails again and again')
    .option('--closed-after <time>')
    .option('--closed-before <time>')
}

/** The flags that select open runs. */
function withOpenFilter(command: Command): Command {
  return command
    .option('--catalog <catalog>', 'task queue')
    .option('--workflow <name>', 'name of the workflow')
    .option('--started-after <time>', 'such as 2026-01-31T12:00:00Z; at this time or later')
    .option('--started-before <time>')
    .option('--attribute <name=value...>', 'value of a search attribute')
    .option('--query <filter>', "an expression in Temporal's list filter language")
}

function withPages(command: Command, size = '1 to 1000; default 100'): Command {
  return command
    .option('--page-size <number>', size)
    .option('--page-token <token>', 'nextPageToken of the previous page')
}
