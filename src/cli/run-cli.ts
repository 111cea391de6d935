import { CommanderError } from 'commander'
import { errorMessage } from '../lib/error-message.ts'
import { EXIT } from './exit-code.ts'
import { UsageError } from './failures.ts'
import { createProgram } from './program.ts'

/** Runs the command that the arguments name, and sets the exit code. */
export async function runCli(args: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync(args, { from: 'user' })
  } catch (error) {
    // The parser has printed its error, or the help.
    const isParser = error instanceof CommanderError
    if (!isParser) console.error(errorMessage(error))
    process.exitCode =
      isParser && error.exitCode === 0
        ? EXIT.completed
        : error instanceof UsageError || isParser
          ? EXIT.usage
          : EXIT.failed
  }
}
