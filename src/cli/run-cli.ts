import { CommanderError } from 'commander'
import { errorCode } from '../shared/lib/error-code.ts'
import { EXIT } from './exit-code.ts'
import { reportError } from './output/report-error.ts'
import { addCompletionHelp, createProgram } from './program.ts'

/** Runs the command that the arguments name, and sets the exit code. */
export async function runCli(args: readonly string[]): Promise<void> {
  process.stdout.on('error', (error) => {
    // `portico list | head` closes the pipe early.
    if (errorCode(error) === 'EPIPE') process.exit()
    console.error(`error: the output cannot be written (${errorCode(error)})`)
    process.exit(EXIT.failed)
  })
  try {
    const program = createProgram()
    if (isCompletion(args)) await (await import('./completion.ts')).addCompletion(program, args)
    else addCompletionHelp(program)
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    // The parser has printed its error, or the help.
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? EXIT.completed : EXIT.usage
    else process.exitCode = reportError(error)
  }
}

function isCompletion([command]: readonly string[]): boolean {
  return command === 'completion' || command === 'complete'
}
