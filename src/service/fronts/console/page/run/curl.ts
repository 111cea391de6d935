import { apiUrl } from '../api.ts'
import { credentialRequired } from '../credential.ts'

/** A command to paste into a shell. The credential is a variable in it. */
export function curlOf(method: string, path: string, body?: string, headers: Record<string, string> = {}): string {
  const parts = [
    'curl',
    ...(method === 'GET' ? [] : ['-X', method]),
    quoted(apiUrl(path).href),
    ...(credentialRequired ? ['-H', '"Authorization: Bearer $PORTICO_TOKEN"'] : []),
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', quoted(`${name}: ${value}`)]),
    ...(body === undefined ? [] : ['-H', quoted('Content-Type: application/json'), '-d', quoted(body)]),
  ]
  return parts.join(' ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
