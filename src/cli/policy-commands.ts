/** The commands about tokens and policies. Only `hooks test` calls the service. */
import type { Command } from 'commander'

export function addPolicyCommands(program: Command): void {
  program
    .command('token')
    .description('make a token for a rule of a policy')
    .command('new')
    .description('print a new token, and its hash for the policy')
    .action(async (_: unknown, command: Command) =>
      (await import('./commands/token.ts')).newToken(command.optsWithGlobals()),
    )
  const policy = program.command('policy').description('check a policy, or say what it allows')
  policy
    .command('check')
    .description('print the mistakes and the warnings of a policy')
    .argument('<file>', 'the JSON of SERVICE_POLICY')
    .action(async (file: string, _: unknown, command: Command) =>
      (await import('./commands/policy.ts')).check(file, command.optsWithGlobals()),
    )
  policy
    .command('explain')
    .description('print which rule allows an action, and why the others do not')
    .argument('<file>', 'the JSON of SERVICE_POLICY')
    .argument('<action>', 'a verb such as start, or one with its handler, such as signal:approve')
    .option('--as <caller>', 'token:<name of a rule> or jwt:<name of an issuer>')
    .option('--jwt <jwt>', 'instead of --as: a JWT, @file or -; its keys are fetched from the issuer')
    .option('--claim <name=value>', 'a claim of the JWT, by name or JSON Pointer; repeat it', append)
    .option('--id <id>', 'workflow id')
    .option('--workflow <name>', 'name of the workflow')
    .option('--catalog <catalog>', 'task queue that the request names')
    .option('--namespace <namespace>', 'default: ENGINE_NAMESPACE, or default')
    .option('--option <name>', 'a start option of the request; repeat it', append)
    .action(async (file: string, action: string, _: unknown, command: Command) =>
      (await import('./commands/policy.ts')).explainAccess(file, action, command.optsWithGlobals()),
    )
  program
    .command('hooks')
    .description('try a hook of a policy')
    .command('test')
    .description('sign a sample as the sender of the hook does, and send it; SERVICE_POLICY defines the hook')
    .argument('<name>', 'name of the hook')
    .argument('<file>', 'the body: JSON, or the fields of a form')
    .option('--id <id>', 'id of the event; default: a new one')
    .option('--header <name: value>', 'a further header, such as "X-GitHub-Event: push"; repeat it', append)
    .action(async (name: string, file: string, _: unknown, command: Command) =>
      (await import('./commands/hooks.ts')).testHook(name, file, command.optsWithGlobals()),
    )
}

function append(value: string, before: string[] = []): string[] {
  return [...before, value]
}
