/** The commands with their arguments and flags. Each module is loaded when its command runs. */
import { Command, Option } from 'commander'
import { VERSION } from '../version.ts'
import { addPolicyCommands } from './policy-commands.ts'
import { PROGRAM } from './program-name.ts'
import { addRunCommands } from './run-commands.ts'
import { addServiceCommands } from './service-commands.ts'

const ABOUT = `Portico ${VERSION}: the HTTP front door for Temporal.

Without a command it starts the service, which environment variables configure: SERVICE_CATALOG_ID (the catalog, or task
queue, of the workers) is required. docs/configuration.md in this package lists all.`

const MORE = `
Where the service is: --url, PORTICO_URL, or "url" in the nearest .portico.json [http://127.0.0.1:3001]; its token in the same
way. Output is JSON unless stdout is a terminal. Exit codes: 0 completed, 1 failed, 2 wrong command, 3 unreachable,
4 timed out. docs/cli.md in this package has examples.`

/** The line in the help. `addCompletion` adds the command itself when it runs. */
export function addCompletionHelp(program: Command): void {
  program.command('completion').argument('<shell>').description('print the completion script of bash, zsh or fish')
}

export function createProgram(): Command {
  const program = new Command('portico')
    .description(ABOUT)
    .version(VERSION, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print the usage')
    .usage('[command] [flags]')
    .option('--url <url>', 'URL of the service')
    .option('--token <token>', 'token of the service; other users of this machine can see flags')
    .option('--namespace <namespace>', 'namespace of the engine; default: that of the service')
    .option('--json', 'print JSON on a terminal too')
    .addOption(new Option('--text', 'print text in a pipe too, such as for less').conflicts('json'))
    .option('--wide', 'print tables that are wider than the terminal')
    .addHelpText('after', MORE)
    .showHelpAfterError(`Try ${PROGRAM} --help`)
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
  addRunCommands(program)
  addServiceCommands(program)
  addPolicyCommands(program)
  return program
}
