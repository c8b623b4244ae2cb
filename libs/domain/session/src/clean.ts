export const cleanText = (text: string): { visible: string } => ({ visible: text });
