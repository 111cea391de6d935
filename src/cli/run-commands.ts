/** The commands about workflows and their runs. */
import { type Command, InvalidArgumentError } from 'commander'

/** Commander has no types for flags: these are those that the command declares here. */
type Flags = never

const JSON_VALUE = 'JSON, @file, or - for stdin'

export function addRunCommands(program: Command): void {
  withStartFlags(program.command('run'))
    .description('start a workflow, wait for its end and print its result')
    .option('--timeout <duration>', 'how long to wait, such as 30s; the workflow keeps running')
    .action(async (workflow: string, _: unknown, command: Command) =>
      (await import('./commands/start.ts')).run(workflow, flagsOf(command)),
    )
  withStartFlags(program.command('start'))
    .description('start a workflow and print its ids')
    .action(async (workflow: string, _: unknown, command: Command) =>
      (await import('./commands/start.ts')).start(workflow, flagsOf(command)),
    )
  withRun(program.command('result'))
    .description('wait for the end of a run and print its result')
    .option('--timeout <duration>', 'how long to wait, such as 30s')
    .option('--no-wait', 'fail if the run is open')
    .action(async (id: string, _: unknown, command: Command) =>
      (await import('./commands/result.ts')).result(id, flagsOf(command)),
    )
  addInspectCommands(program)
  addMessageCommands(program)
  addEndCommands(program)
}

function addInspectCommands(program: Command): void {
  withRun(program.command('status'))
    .description("print a run's status")
    .action(async (id: string, _: unknown, command: Command) =>
      (await import('./commands/inspect.ts')).status(id, flagsOf(command)),
    )
  withRun(program.command('explain'))
    .description('print why a run does not move, and what to do about it')
    .action(async (id: string, _: unknown, command: Command) =>
      (await import('./commands/inspect.ts')).explain(id, flagsOf(command)),
    )
  withRun(program.command('trace'))
    .description('print the steps of a run as a tree')
    .action(async (id: string, _: unknown, command: Command) =>
      (await import('./commands/inspect.ts')).trace(id, flagsOf(command)),
    )
  withPages(withRun(program.command('history')))
    .description('print the events of a run')
    .option('--no-payloads', 'leave out arguments, results and other encoded values')
    .action(async (id: string, _: unknown, command: Command) =>
      (await import('./commands/inspect.ts')).history(id, flagsOf(command)),
    )
  withPages(program.command('list'))
    .description('list the runs that match all filters')
    .option('--catalog <catalog>', 'task queue')
    .option('--workflow <name>', 'name of the workflow')
    .option('--status <status>', 'such as running, completed or failed')
    .option('--started-after <time>', 'such as 2026-01-31T12:00:00Z; at this time or later')
    .option('--started-before <time>')
    .option('--closed-after <time>')
    .option('--closed-before <time>')
    .option('--attribute <name=value...>', 'value of a search attribute')
    .option('--query <filter>', "an expression in Temporal's list filter language")
    .action(async (_: unknown, command: Command) => (await import('./commands/list.ts')).list(flagsOf(command)))
}

function addMessageCommands(program: Command): void {
  withMessage(program.command('signal'))
    .description('send a signal')
    .option('--key <key>', 'idempotency key: the run receives the signal once')
    .action(async (id: string, name: string, _: unknown, command: Command) =>
      (await import('./commands/message.ts')).signal(id, name, flagsOf(command)),
    )
  withMessage(program.command('query'))
    .description('send a query and print its result')
    .option('--timeout <duration>', 'how long to wait, such as 30s')
    .action(async (id: string, name: string, _: unknown, command: Command) =>
      (await import('./commands/message.ts')).query(id, name, flagsOf(command)),
    )
  withMessage(program.command('update'))
    .description('send an update and print its result')
    .option('--timeout <duration>', 'how long to wait, such as 30s')
    .option('--key <key>', 'idempotency key: the run receives the update once')
    .action(async (id: string, name: string, _: unknown, command: Command) =>
      (await import('./commands/message.ts')).update(id, name, flagsOf(command)),
    )
}

function addEndCommands(program: Command): void {
  withRun(program.command('stop'))
    .description('request cancellation; cleanup code runs')
    .option('--reason <reason>', 'recorded in the history')
    .action(async (id: string, _: unknown, command: Command) =>
      (await import('./commands/end.ts')).stop(id, flagsOf(command)),
    )
  withRun(program.command('terminate'))
    .description('end a run at once; no cleanup code runs')
    .option('--reason <reason>', 'recorded in the history')
    .action(async (id: string, _: unknown, command: Command) =>
      (await import('./commands/end.ts')).terminate(id, flagsOf(command)),
    )
}

function withStartFlags(command: Command): Command {
  return withArguments(command.argument('<workflow>', 'name of the workflow'))
    .option('--id <id>', 'workflow id; default: a new one')
    .option('--catalog <catalog>', 'task queue of the workers; default: that of the service')
    .option('--key <key>', 'idempotency key: the workflow is started once; default: a new one')
    .option('--options <json>', `start options such as memo, retry and runTimeout (docs/api.md): ${JSON_VALUE}`)
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
    .option('--arg <json>', 'one of several arguments; repeat it', (value: string, before: string[] = []) => [
      ...before,
      value,
    ])
}

function withRun(command: Command): Command {
  return command.argument('<id>', 'workflow id').option('--run <run-id>', 'one run; default: the latest run')
}

function withPages(command: Command): Command {
  return command
    .option('--page-size <number>', '1 to 1000; default 100')
    .option('--page-token <token>', 'nextPageToken of the previous page')
}

function flagsOf(command: Command): Flags {
  return command.optsWithGlobals() as Flags
}
