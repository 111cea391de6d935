/** The commands about catalogs and the service, and those that start programs. */
import type { Command } from 'commander'

export function addServiceCommands(program: Command): void {
  program
    .command('catalog')
    .description('list the workflows of a catalog with their handlers')
    .argument('[catalog]', 'task queue; default: that of the service')
    .option('--catalog <catalog>', 'the same')
    .action(async (catalog: string | undefined, _: unknown, command: Command) =>
      (await import('./commands/catalog.ts')).catalog({ ...command.optsWithGlobals(), ...(catalog && { catalog }) }),
    )
  program
    .command('queue')
    .description('print the workers and the backlog of a task queue')
    .argument('<name>', 'task queue')
    .action(async (name: string, _: unknown, command: Command) =>
      (await import('./commands/catalog.ts')).queue(name, command.optsWithGlobals()),
    )
  program
    .command('openapi')
    .description('print the OpenAPI document, with the workflows of a catalog')
    .option('--catalog <catalog>', 'task queue; default: that of the service')
    .action(async (_: unknown, command: Command) =>
      (await import('./commands/catalog.ts')).openapi(command.optsWithGlobals()),
    )
  program
    .command('types')
    .description('write the TypeScript types of a catalog, for portico/client')
    .option('--catalog <catalog>', 'task queue; default: that of the service')
    .option('--out <file>', 'default: stdout')
    .action(async (_: unknown, command: Command) =>
      (await import('./commands/write-types.ts')).writeTypes(command.optsWithGlobals()),
    )
  program
    .command('dev')
    .description('start a Temporal server with its web UI, the API, and your worker')
    .argument('[command...]', 'starts your worker: portico dev -- node worker.ts')
    .option('--catalog <catalog>', 'task queue of the worker')
    .option('--port <port>', 'port of the API; default 3001')
    .option('--watch', 'start the worker again when a source file in this folder changes')
    .action(async (worker: string[], _: unknown, command: Command) =>
      (await import('./commands/dev.ts')).dev(worker, command.optsWithGlobals()),
    )
  program
    .command('archive')
    .description('archive the traces and send the webhooks of task queues that no worker of the kit serves')
    .argument('[queue...]', 'default: SERVICE_CATALOG_ID')
    .action(async (queues: string[]) => (await import('./commands/archive.ts')).archive(queues))
}
