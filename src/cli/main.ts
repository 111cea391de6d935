/** `npx portico` and the executables: a command, or without arguments the service. */
import '../service/runtime/node/exit-on-old-node.ts'

// None loads another: a command starts soon, and so does the service.
if (process.argv.length > 2) await (await import('./run-cli.ts')).runCli(process.argv.slice(2))
else if (process.versions.bun === undefined) await import('../service/runtime/node/index.ts')
else await import('../service/runtime/bun.ts')
