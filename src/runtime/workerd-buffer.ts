/** Imported before anything else on workerd, whose `utf8Write` takes the buffer's whole length for what is left after `offset`: protobufjs then fails on strings of 40 characters and more. */
interface WritesUtf8 {
  length: number
  utf8Write(text: string, offset?: number, length?: number): number
}

const buffers = Buffer.prototype as unknown as WritesUtf8
const { utf8Write } = buffers

buffers.utf8Write = function (this: WritesUtf8, text, offset = 0, length = this.length - offset) {
  return utf8Write.call(this, text, offset, length)
}
