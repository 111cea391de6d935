/** Sends the same request again and again, with so little CPU time that the server gets the rest of the machine. */
import { connect, type Socket } from 'node:net'
import type { Exchange } from './load.ts'

export interface Sender {
  /** Sends the request over an idle connection, or over a new one. */
  send(): Promise<{ status: number; text: string }>
  close(): void
}

interface Connection {
  socket: Socket
  /** What has arrived of the response. */
  received: string
  settle: { resolve(response: { status: number; text: string }): void; reject(error: Error): void } | null
}

/** For servers whose responses have a `Content-Length`. */
export function createSender(port: number, { method, path, body }: Exchange): Sender {
  const text = body === undefined ? '' : JSON.stringify(body)
  const type = text === '' ? '' : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n`
  const request = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${type}\r\n${text}`
  const idle: Connection[] = []
  const all = new Set<Connection>()

  function open(): Connection {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const connection: Connection = { socket, received: '', settle: null }
    socket
      .setEncoding('latin1')
      .on('data', (part: string) => receive(connection, part))
      // 'close' follows.
      .on('error', () => {})
      .on('close', () => {
        all.delete(connection)
        if (idle.includes(connection)) idle.splice(idle.indexOf(connection), 1)
        connection.settle?.reject(new Error('The connection was closed before the response was complete'))
      })
    all.add(connection)
    return connection
  }

  function receive(connection: Connection, part: string): void {
    connection.received += part
    const { received, settle } = connection
    const bodyAt = received.indexOf('\r\n\r\n') + 4
    if (bodyAt < 4 || settle === null) return
    const length = Number(/^content-length: (\d+)/im.exec(received)?.[1])
    if (received.length < bodyAt + length) return
    Object.assign(connection, { received: '', settle: null })
    if (/^connection: close/im.test(received.slice(0, bodyAt))) connection.socket.destroy()
    else idle.push(connection)
    settle.resolve({ status: Number(received.slice(9, 12)), text: received.slice(bodyAt) })
  }

  return {
    send: () =>
      new Promise((resolve, reject) => {
        const connection = idle.pop() ?? open()
        connection.settle = { resolve, reject }
        connection.socket.write(request)
      }),
    close() {
      for (const { socket } of all) socket.destroy()
    },
  }
}
