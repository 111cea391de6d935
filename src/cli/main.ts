/** `npx portico`: a command, or without arguments the service on Node. */
import '../runtime/node/exit-on-old-node.ts'

// Neither loads the other: a command starts soon, and so does the service.
if (process.argv.length > 2) await (await import('./run-cli.ts')).runCli(process.argv.slice(2))
else await import('../runtime/node/index.ts')
