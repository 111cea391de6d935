/** The commands with their arguments and flags. Each module is loaded when its command runs. */
import { Command } from 'commander'
import { VERSION } from '../version.ts'
import { addServiceCommands } from './service-commands.ts'

const ABOUT = `Portico ${VERSION}: the HTTP front door for Temporal.

Without a command it starts the service, which environment variables configure: SERVICE_CATALOG_ID (the catalog, or task
queue, of the workers) is required. docs/configuration.md in this package lists all.`

export function createProgram(): Command {
  const program = new Command('portico')
    .description(ABOUT)
    .version(VERSION, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print the usage')
    .usage('[command] [flags]')
    .showHelpAfterError('Try portico --help')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
  addServiceCommands(program)
  return program
}
