import LarderCommands

LarderCommand.main()
