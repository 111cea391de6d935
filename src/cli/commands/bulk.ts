/** `portico bulk`. */

import { newIdempotencyKey } from '../../client/connection/idempotency-key.ts'
import type { ClientOptions } from '../../client/connection/options.ts'
import {
  type BulkAnswer,
  type BulkLine,
  bulk,
  hasFailed,
  IncompleteBulkError,
  isRepeatable,
} from '../../client/requests/bulk.ts'
import { isObject, parseJson } from '../../shared/lib/json.ts'
import { findJsonSyntaxError } from '../../shared/lib/json-syntax-error.ts'
import { type Command, type CommonFlags, callService } from '../command.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { Interruption, UsageError } from '../failures.ts'
import { readArgument } from '../flags/json-argument.ts'
import { linesAdvice, repeatAdvice } from '../output/advice.ts'
import { paint, printable, printDocument, printLines, printNote } from '../output/terminal.ts'
import type { Settings } from '../settings.ts'

export interface BulkFlags extends CommonFlags {
  file?: string
  key?: string
}

/** In a pipe each answer is a line. On a terminal a bar shows how many there are, and failures are printed. */
export async function bulkOfLines({ file, key = newIdempotencyKey(), ...flags }: BulkFlags): Promise<void> {
  await callService(flags, async (command) => {
    const lines = toLines(await readArgument('--file', file === undefined ? '-' : `@${file}`, command.signal))
    const progress = showProgress(command, lines)
    try {
      for await (const answer of bulk(optionsOf(command.settings), lines, { key, signal: command.signal }))
        progress.add(answer)
    } catch (error) {
      throw progress.interrupted(error, key)
    } finally {
      progress.hide()
    }
    return progress.end()
  })
}

function optionsOf({ url, token, namespace, catalog }: Settings): ClientOptions {
  return {
    ...{ url, token: token ?? undefined, namespace: namespace ?? undefined, catalog: catalog ?? undefined },
    ...{ parse: parseJson },
  }
}

const BAR_WIDTH = 20

function showProgress({ isJson, wait }: Command, lines: readonly BulkLine[]) {
  const total = lines.length
  const missing = new Set(lines.keys())
  let failed = 0

  function bar(): string {
    const answered = total - missing.size
    const full = Math.floor((answered / total) * BAR_WIDTH)
    return ` ${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)} ${answered}/${total}, ${failed} failed`
  }

  const howToFinish = (key: string) =>
    lines.every(isRepeatable) ? repeatAdvice({ key, runId: null }) : linesAdvice([...missing], key)

  const show = () => wait('bulk', bar)
  let hide = show()
  return {
    hide: () => hide(),
    add(answer: BulkAnswer) {
      missing.delete(answer.index)
      if (hasFailed(answer)) failed++
      else if (!isJson) return
      hide()
      print(answer, isJson)
      hide = show()
    },
    /** The error to report, after how to finish the bulk. */
    interrupted(error: unknown, key: string): unknown {
      hide()
      const isIncomplete = error instanceof IncompleteBulkError
      if (isIncomplete || error instanceof Interruption)
        printNote(`${total - missing.size} of ${total} lines were answered. ${howToFinish(key)}`)
      return isIncomplete ? error.cause : error
    },
    end(): ExitCode {
      hide()
      printNote(`${total} lines: ${total - failed} succeeded, ${failed} failed`)
      return failed > 0 ? EXIT.failed : EXIT.completed
    },
  }
}

function print(answer: BulkAnswer, isJson: boolean): void {
  const { error, message } = Object(answer.body) as Record<string, unknown>
  if (isJson) printDocument(JSON.stringify(answer))
  else printLines(`${paint('red', `line ${answer.index + 1}`)}: ${printable(`${message} (${error})`)}`)
}

/** Throws a `UsageError` for a line that is not an object. */
function toLines(text: string): BulkLine[] {
  const lines = text.split('\n').flatMap((line, at) => (line.trim() === '' ? [] : [{ line, number: at + 1 }]))
  if (lines.length === 0) throw new UsageError('There is no line: each line is a JSON object (docs/api/bulk.md)')
  return lines.map(({ line, number }) => {
    const value = findJsonSyntaxError(line) === null ? parseJson(line) : null
    if (!isObject(value)) throw new UsageError(`Line ${number} is not a JSON object`)
    return value as unknown as BulkLine
  })
}
