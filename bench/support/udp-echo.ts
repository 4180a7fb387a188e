/** Sends each packet back as an answer: the cost of UDP in Node for any server. */
import { createSocket } from 'node:dgram'

const socket = createSocket({ type: 'udp4', lookup: (name, _options, found) => found(null, name, 4) })
const [, , port] = process.argv
socket.on('message', (message, { port: from, address }) => {
  message[2] = (message[2] as number) | 0x84
  socket.send(message, from, address)
})
socket.bind(Number(port), '127.0.0.1')
