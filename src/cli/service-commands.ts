/** The commands that start programs. */
import type { Command } from 'commander'

export function addServiceCommands(program: Command): void {
  program
    .command('dev')
    .description('start a Temporal server with its web UI, the API, and your worker')
    .argument('[command...]', 'starts your worker: portico dev -- node worker.ts')
    .option('--catalog <catalog>', 'task queue of the worker')
    .option('--port <port>', 'port of the API; default 3001')
    .action(async (worker: string[], _: unknown, command: Command) =>
      (await import('./commands/dev.ts')).dev(worker, command.optsWithGlobals()),
    )
  program
    .command('archive')
    .description('archive the traces of task queues that no worker of the kit serves')
    .argument('[queue...]', 'default: SERVICE_CATALOG_ID')
    .action(async (queues: string[]) => (await import('./commands/archive.ts')).archive(queues))
}
