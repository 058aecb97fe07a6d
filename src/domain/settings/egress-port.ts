/** The port on the 127.0.0.1 of commands where the egress proxy accepts connections. No service can have it. */
export const egressPort = 3128;
